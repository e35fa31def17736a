// Channels, and one of them with banner, sections, videos and playlists.

import { api, page, picture } from './api.js';
import { count, element, facts, moment, nothing, show, viewLink } from './dom.js';
import { listed, searched } from './lists.js';
import { part, refusal } from './pages.js';
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

async function one({ area, heading, signal }, id) {
  const { items = [] } = await api('channels', { part: 'snippet,statistics,contentDetails,brandingSettings,status', id }, { signal });
  if (items.length === 0) {
    show(area, refusal({ code: 'channelNotFound', message: `There is no channel ${id}.` }));
    return;
  }
  const [{ snippet, statistics, contentDetails, brandingSettings, status }] = items;
  heading.textContent = snippet.title;
  const banner = brandingSettings?.image?.bannerExternalUrl;
  const uploads = contentDetails.relatedPlaylists.uploads;
  const videos = (pageToken) => page('playlistItems', { part: 'snippet', playlistId: uploads, maxResults: 25, pageToken }, { signal });
  const playlists = (pageToken) => page('playlists', { part: 'snippet,contentDetails,status', channelId: id, maxResults: 25, pageToken }, { signal });
  const parts = [
    part('Sections', () => sections(id, signal)),
    part('Videos', (fill) => listed(videos, fill, { caption: 'Videos of the channel, the newest first', columns: UPLOADS, empty: 'It has no videos that are shown.' })),
    part('Playlists', (fill) => listed(playlists, fill, { caption: 'Playlists of the channel', columns: playlistColumns, empty: 'It has no playlists that are shown.' })),
  ];
  show(area,
    banner && element('img', { class: 'banner', src: new URL(banner).pathname, alt: 'Banner of the channel' }),
    facts([['Handle', snippet.customUrl], ['Id', element('code', {}, id)], ['Since', moment(snippet.publishedAt)], ['Country', snippet.country],
      ['Subscribers', statistics.hiddenSubscriberCount ? 'hidden' : count(statistics.subscriberCount)], ['Videos', count(statistics.videoCount)],
      ['Views', count(statistics.viewCount)], ['Made for kids', status?.madeForKids === undefined ? undefined : String(status.madeForKids)]]),
    element('p', { class: 'description' }, snippet.description),
    element('p', { class: 'actions' }, viewLink(`comments/channel/${id}`, 'Comments on the channel and its videos')),
    parts.map((each) => each.area));
  await Promise.all(parts.map((each) => each.loaded));
}

/** The view of channels. */
export const channels = {
  name: 'channels',
  title: 'Channels',
  show: (context) => context.parts[0] ? one(context, context.parts[0]) : searched(context, {
    type: 'channel', kind: 'channelId', path: 'channels', parts: 'snippet,statistics', caption: 'Channels', columns: COLUMNS, empty: 'No channel has these words.',
  }),
};
