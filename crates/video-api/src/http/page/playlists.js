// Playlists, and the items of one in their order.

import { page, picture } from './api.js';
import { count, element, facts, moment, show, viewLink } from './dom.js';
import { viewOf } from './lists.js';
import { pages } from './pages.js';

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

async function one({ area, query, signal, go }, { id, snippet, contentDetails, status }) {
  const load = (pageToken) => page('playlistItems', { part: 'snippet,contentDetails', playlistId: id, maxResults: 50, pageToken }, { signal });
  show(area,
    facts([['Channel', viewLink(`channels/${snippet.channelId}`, snippet.channelTitle)], ['Items', count(contentDetails.itemCount)], ['Privacy', status.privacyStatus], ['Id', element('code', {}, id)], ['Made', moment(snippet.publishedAt)]]),
    element('p', { class: 'description' }, snippet.description),
    await pages({ caption: 'Items of the playlist in their order', columns: ITEMS, load, token: query.get('page') ?? undefined, turn: (token) => go(`playlists/${id}`, { page: token }), empty: 'It has no items.' }));
}

/** The view of playlists. */
export const playlists = viewOf(
  { name: 'playlist', path: 'playlists', title: 'Playlists', parts: 'snippet,contentDetails,status' },
  one,
  { parts: 'snippet,contentDetails,status', columns, empty: 'No public playlist has these words.' },
);
