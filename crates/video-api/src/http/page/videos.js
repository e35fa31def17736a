// Videos with their pictures, and one of them with player, captions and comments.

import { actor, api, picture } from './api.js';
import { ask } from './client.js';
import { threads } from './comments.js';
import { button, count, element, facts, moment, nothing, show, table, viewLink } from './dom.js';
import { showParts, viewOf } from './lists.js';
import { part, refusal } from './pages.js';
import { dropArea } from './upload.js';

const COLUMNS = [
  { title: 'Picture', cell: ({ snippet }) => picture(snippet.thumbnails) },
  { title: 'Video', cell: ({ id, snippet }) => viewLink(`videos/${id}`, snippet.title) },
  { title: 'Channel', cell: ({ snippet }) => viewLink(`channels/${snippet.channelId}`, snippet.channelTitle) },
  { title: 'Privacy', cell: ({ status }) => status.uploadStatus === 'failed' ? 'failed' : status.privacyStatus },
  { title: 'Views', number: true, cell: ({ statistics }) => count(statistics.viewCount) },
  { title: 'Comments', number: true, cell: ({ statistics }) => count(statistics.commentCount) },
  { title: 'Published', cell: ({ snippet }) => moment(snippet.publishedAt) },
];

/** The player within this page. What other pages may not embed is played by a link for ten minutes. */
async function player({ id, snippet, status }) {
  const isOpen = status.privacyStatus !== 'private' && status.embeddable !== false && status.uploadStatus !== 'failed';
  const url = isOpen ? undefined : new URL((await ask('/_ops/playerLinks', { method: 'POST', json: { video: id } })).url);
  const src = url ? `${url.pathname}${url.search}` : `/embed/${id}`;
  return [
    element('iframe', { class: 'player', src, title: `Player of ${snippet.title}`, allow: 'fullscreen' }),
    url && element('p', { class: 'note' }, 'Others may not embed it: this plays by a link of ten minutes.'),
  ];
}

async function captions(id, signal) {
  if (!actor()) return nothing('Say above which account to act as: captions are listed for accounts alone.');
  const { items = [] } = await api('captions', { part: 'snippet', videoId: id }, { signal });
  if (items.length === 0) return nothing('It has no captions that are shown.');
  return table('Captions', [
    { title: 'Language', cell: ({ snippet }) => snippet.language },
    { title: 'Name', cell: ({ snippet }) => snippet.name },
    { title: 'Kind', cell: ({ snippet }) => snippet.trackKind },
    { title: 'State', cell: ({ snippet }) => [snippet.status, snippet.failureReason ? ` (${snippet.failureReason})` : ''] },
    { title: 'Draft', cell: ({ snippet }) => snippet.isDraft ? 'yes' : 'no' },
    { title: 'Updated', cell: ({ snippet }) => moment(snippet.lastUpdated) },
  ], items).area;
}

async function one(context, video) {
  const { area, signal } = context;
  const { id, snippet, statistics, status, contentDetails } = video;
  const stage = element('div', {}, picture(snippet.thumbnails));
  const play = button('Play', async () => {
    try {
      show(stage, await player(video));
    } catch (error) {
      show(stage, refusal(error));
    }
  }, { class: 'primary' });
  const parts = [part('Captions', () => captions(id, signal)), part('Comments', () => threads({ ...context, target: { videoId: id } }))];
  await showParts(area, [stage, element('p', { class: 'actions' }, play),
    facts([['Channel', viewLink(`channels/${snippet.channelId}`, snippet.channelTitle)], ['Published', moment(snippet.publishedAt)], ['Privacy', status.privacyStatus],
      ['Upload', [status.uploadStatus, status.failureReason ? ` (${status.failureReason})` : '']], ['Embeddable', status.embeddable === undefined ? undefined : String(status.embeddable)],
      ['Duration', contentDetails.duration], ['Definition', contentDetails.definition], ['Captions', contentDetails.caption],
      ['Views', count(statistics.viewCount)], ['Likes', count(statistics.likeCount)], ['Comments', count(statistics.commentCount)],
      ['Tags', (snippet.tags ?? []).join(', ')], ['Id', element('code', {}, id)]]),
    element('p', { class: 'description' }, snippet.description)], parts);
}

/** Where the one that this page acts as uploads videos; they are shown once they are there. */
function uploads({ query, go, again }) {
  if (!actor()) return nothing('Say above which account to act as to upload videos.');
  return dropArea(() => {
    // An upload goes on while another view is shown, which it leaves alone.
    if (!/^#\/videos(\?|$)/.test(location.hash)) return;
    if (query.has('mine')) again();
    else go('videos', { mine: '1', page: undefined });
  });
}

/** The view of videos. */
export const videos = viewOf(
  { name: 'video', path: 'videos', title: 'Videos', parts: 'snippet,statistics,status,contentDetails' },
  one,
  { parts: 'snippet,statistics,status', columns: COLUMNS, empty: 'No video that is shown has these words.', above: uploads },
);
