// Channels, and one of them with banner, sections, videos and playlists.

import { api, page, picture } from './api.js';
import { count, element, facts, moment, nothing, viewLink } from './dom.js';
import { listed, showParts, viewOf } from './lists.js';
import { part } from './pages.js';
import { columns as playlistColumns } from './playlists.js';

const COLUMNS = [
  { title: 'Channel', cell: ({ id, snippet }) => viewLink(`channels/${id}`, snippet.title) },
  { title: 'Handle', cell: ({ snippet }) => snippet.customUrl ?? '' },
  { title: 'Subscribers', number: true, cell: ({ statistics }) => statistics.hiddenSubscriberCount ? 'hidden' : count(statistics.subscriberCount) },
  { title: 'Videos', number: true, cell: ({ statistics }) => count(statistics.videoCount) },
  { title: 'Views', number: true, cell: ({ statistics }) => count(statistics.viewCount) },
];

const UPLOADS = [
  { title: 'Picture', cell: ({ snippet }) => picture(snippet.thumbnails) },
  { title: 'Video', cell: ({ snippet }) => viewLink(`videos/${snippet.resourceId.videoId}`, snippet.title) },
  { title: 'Published', cell: ({ snippet }) => moment(snippet.publishedAt) },
];

async function sections(id, signal) {
  const { items = [] } = await api('channelSections', { part: 'snippet,contentDetails', channelId: id }, { signal });
  if (items.length === 0) return nothing('No section is shown to the one that this page acts as.');
  const links = (kind, ids = []) => ids.map((each) => element('li', {}, viewLink(`${kind}/${each}`, each)));
  return element('ol', {}, items.map(({ snippet, contentDetails }) => element('li', {},
    snippet.title || snippet.type, snippet.title && element('span', { class: 'note' }, ` ${snippet.type}`),
    element('ul', {}, links('playlists', contentDetails?.playlists), links('channels', contentDetails?.channels)))));
}

async function one({ area, signal }, { id, snippet, statistics, contentDetails, brandingSettings, status }) {
  const banner = brandingSettings?.image?.bannerExternalUrl;
  const uploads = contentDetails.relatedPlaylists.uploads;
  const videos = (pageToken) => page('playlistItems', { part: 'snippet', playlistId: uploads, maxResults: 25, pageToken }, { signal });
  const playlists = (pageToken) => page('playlists', { part: 'snippet,contentDetails,status', channelId: id, maxResults: 25, pageToken }, { signal });
  const parts = [
    part('Sections', () => sections(id, signal)),
    part('Videos', (fill) => listed(videos, fill, { caption: 'Videos of the channel, the newest first', columns: UPLOADS, empty: 'It has no videos that are shown.' })),
    part('Playlists', (fill) => listed(playlists, fill, { caption: 'Playlists of the channel', columns: playlistColumns, empty: 'It has no playlists that are shown.' })),
  ];
  await showParts(area, [
    banner && element('img', { class: 'banner', src: new URL(banner).pathname, alt: 'Banner of the channel' }),
    facts([['Handle', snippet.customUrl], ['Id', element('code', {}, id)], ['Since', moment(snippet.publishedAt)], ['Country', snippet.country],
      ['Subscribers', statistics.hiddenSubscriberCount ? 'hidden' : count(statistics.subscriberCount)], ['Videos', count(statistics.videoCount)],
      ['Views', count(statistics.viewCount)], ['Made for kids', status?.madeForKids === undefined ? undefined : String(status.madeForKids)]]),
    element('p', { class: 'description' }, snippet.description),
    element('p', { class: 'actions' }, viewLink(`comments/channel/${id}`, 'Comments on the channel and its videos')),
  ], parts);
}

/** The view of channels. */
export const channels = viewOf(
  { name: 'channel', path: 'channels', title: 'Channels', parts: 'snippet,statistics,contentDetails,brandingSettings,status' },
  one,
  { parts: 'snippet,statistics', columns: COLUMNS, empty: 'No channel has these words.' },
);
