// Playlists, and the items of one in their order.

import { api, page, picture } from './api.js';
import { count, element, facts, moment, show, viewLink } from './dom.js';
import { searched } from './lists.js';
import { pages, refusal } from './pages.js';

export const columns = [
  { title: 'Picture', cell: ({ snippet }) => picture(snippet.thumbnails) },
  { title: 'Playlist', cell: ({ id, snippet }) => viewLink(`playlists/${id}`, snippet.title) },
  { title: 'Items', number: true, cell: ({ contentDetails }) => count(contentDetails.itemCount) },
  { title: 'Privacy', cell: ({ status }) => status?.privacyStatus ?? '' },
  { title: 'Made', cell: ({ snippet }) => moment(snippet.publishedAt) },
];

const ITEMS = [
  { title: 'Position', number: true, cell: ({ snippet }) => count(snippet.position + 1) },
  { title: 'Picture', cell: ({ snippet }) => picture(snippet.thumbnails) },
  { title: 'Video', cell: ({ snippet }) => viewLink(`videos/${snippet.resourceId.videoId}`, snippet.title) },
  { title: 'Of', cell: ({ snippet }) => snippet.videoOwnerChannelTitle ?? '' },
  { title: 'Added', cell: ({ snippet }) => moment(snippet.publishedAt) },
  { title: 'Note', cell: ({ contentDetails }) => contentDetails?.note ?? '' },
];

async function one({ area, heading, query, signal, go }, id) {
  const { items = [] } = await api('playlists', { part: 'snippet,contentDetails,status', id }, { signal });
  if (items.length === 0) {
    show(area, refusal({ code: 'playlistNotFound', message: `There is no playlist ${id}, or it is hidden from the one that this page acts as.` }));
    return;
  }
  const [{ snippet, contentDetails, status }] = items;
  heading.textContent = snippet.title;
  const load = (pageToken) => page('playlistItems', { part: 'snippet,contentDetails', playlistId: id, maxResults: 50, pageToken }, { signal });
  show(area,
    facts([['Channel', viewLink(`channels/${snippet.channelId}`, snippet.channelTitle)], ['Items', count(contentDetails.itemCount)], ['Privacy', status.privacyStatus], ['Id', element('code', {}, id)], ['Made', moment(snippet.publishedAt)]]),
    element('p', { class: 'description' }, snippet.description),
    await pages({ caption: 'Items of the playlist in their order', columns: ITEMS, load, token: query.get('page') ?? undefined, turn: (token) => go(`playlists/${id}`, { page: token }), empty: 'It has no items.' }));
}

/** The view of playlists. */
export const playlists = {
  name: 'playlists',
  title: 'Playlists',
  show: (context) => context.parts[0] ? one(context, context.parts[0]) : searched(context, {
    type: 'playlist', kind: 'playlistId', path: 'playlists', parts: 'snippet,contentDetails,status', caption: 'Playlists', columns, empty: 'No public playlist has these words.',
  }),
};
