// Comments of a video or of a channel, in the states that its owner sees, and what that owner can do about them.

import { actor, api } from './api.js';
import { ask } from './client.js';
import { confirmed } from './dialog.js';
import { button, count, element, field, moment, nothing, show, viewLink } from './dom.js';
import { part, refusal } from './pages.js';

const STATES = [['published', 'Published'], ['heldForReview', 'Held for review'], ['likelySpam', 'Likely spam'], ['rejected', 'Rejected']];
const ACTIONS = [['published', 'Publish'], ['heldForReview', 'Hold'], ['rejected', 'Reject']];
const PAGE = 20;

/** Does something to a comment, shows what refuses it, and reads the list again. */
function action(label, said, act, again, attributes = {}) {
  const made = button(label, async () => {
    made.disabled = true;
    try {
      if (await act()) await again();
    } catch (error) {
      show(said, refusal(error));
    }
    made.disabled = false;
  }, attributes);
  return made;
}

function actions(comment, again) {
  const { id, snippet } = comment;
  const said = element('div');
  const name = `the comment of ${snippet.authorDisplayName || 'somebody'}`;
  const moderate = (moderationStatus, banAuthor) => async () => {
    await api('comments/setModerationStatus', { id, moderationStatus, banAuthor }, { method: 'POST' });
    return true;
  };
  const ban = async () => await confirmed('Reject and ban', `${name} is rejected, and so is what this author writes to the channel from now on. No operation ends a ban.`, 'Reject and ban')
    && moderate('rejected', 'true')();
  const remove = async () => {
    if (!await confirmed('Delete', `${name} goes, and the replies to it: “${snippet.textDisplay.slice(0, 100)}”`, 'Delete')) return false;
    await api('comments', { id }, { method: 'DELETE' });
    return true;
  };
  const wanted = ACTIONS.filter(([state]) => state !== (snippet.moderationStatus ?? 'published'));
  return [element('div', { class: 'actions' },
    wanted.map(([state, label]) => action(label, said, moderate(state), again, { 'aria-label': `${label} ${name}` })),
    action('Reject and ban', said, ban, again, { 'aria-label': `Reject and ban the author of ${name}` }),
    action('Delete', said, remove, again, { 'aria-label': `Delete ${name}` })), said];
}

function one(comment, again, children = []) {
  const { snippet } = comment;
  const author = snippet.authorChannelId ? viewLink(`channels/${snippet.authorChannelId.value}`, snippet.authorDisplayName || 'no name') : 'an account that is gone';
  return element('article', { class: 'thread' },
    element('p', { class: 'byline' }, author, ' · ', moment(snippet.publishedAt), snippet.updatedAt !== snippet.publishedAt && ' · changed', ` · ${count(snippet.likeCount)} likes`,
      snippet.moderationStatus && snippet.moderationStatus !== 'published' && ` · ${snippet.moderationStatus}`),
    element('p', {}, snippet.textDisplay), actor() && actions(comment, again), children);
}

async function replies(parentId, signal, again, pageToken) {
  const { items = [], nextPageToken } = await api('comments', { part: 'snippet', parentId, textFormat: 'plainText', maxResults: 50, pageToken }, { signal });
  const list = element('div', {}, items.map((reply) => one(reply, again)));
  if (nextPageToken) list.append(button('Further replies', async ({ target }) => target.replaceWith(await replies(parentId, signal, again, nextPageToken))));
  return list;
}

function thread({ snippet, replies: some }, signal, again) {
  const shown = some?.comments ?? [];
  const all = element('div', {}, shown.map((reply) => one(reply, again)));
  const more = snippet.totalReplyCount > shown.length
    && button(`All ${count(snippet.totalReplyCount)} replies`, async () => show(all, await replies(snippet.topLevelComment.id, signal, again)));
  const about = snippet.videoId && element('p', { class: 'byline' }, 'About ', viewLink(`videos/${snippet.videoId}`, snippet.videoId));
  return one(snippet.topLevelComment, again, [about, all, more]);
}

/** Threads about `target`, in a state that is chosen here. */
export async function threads({ query, signal, target }) {
  const content = element('div', { 'aria-live': 'polite' });
  const state = element('select', { onchange: () => turn() }, STATES.map(([name, title]) => element('option', { value: name }, title)));
  state.value = STATES.some(([name]) => name === query.get('state')) ? query.get('state') : 'published';
  const turn = async (pageToken) => {
    try {
      const parameters = { part: 'snippet,replies', ...target, moderationStatus: state.value === 'published' ? undefined : state.value, textFormat: 'plainText', maxResults: PAGE, pageToken };
      const { items = [], nextPageToken } = await api('commentThreads', parameters, { signal });
      const again = () => turn(pageToken);
      show(content, items.length === 0 ? nothing('No comment is in this state.') : items.map((item) => thread(item, signal, again)),
        element('p', { class: 'actions' }, pageToken && button('First page', () => turn()), nextPageToken && button('Next page', () => turn(nextPageToken))));
    } catch (error) {
      if (!signal.aborted) show(content, refusal(error));
    }
  };
  await turn();
  return [actor() ? field('State', state) : nothing('Act as the owner of the channel to see other states and to moderate.'), content];
}

/** The view of comments: of the channel that is acted as, or of the one in the address. */
export const comments = {
  name: 'comments',
  title: 'Comments',
  async show(context) {
    const { area, parts: [kind, id], signal, go } = context;
    const onsubmit = (event) => {
      event.preventDefault();
      const wanted = input.value.trim();
      if (wanted) go(`comments/${wanted.startsWith('UC') ? 'channel' : 'video'}/${encodeURIComponent(wanted)}`);
    };
    let target = kind === 'video' ? { videoId: id } : { allThreadsRelatedToChannelId: id };
    if (!id && actor()) {
      const { accounts } = await ask(`/_ops/accounts?id=${encodeURIComponent(actor())}`, { signal });
      target = { allThreadsRelatedToChannelId: accounts[0]?.channel };
    }
    const named = Object.values(target)[0];
    const input = element('input', { type: 'search', size: 28, value: named ?? '', required: true });
    const list = part(named ? `About ${named}` : 'Of a channel or video', () => named ? threads({ ...context, target }) : nothing('Act as an account, or name a channel or a video.'));
    show(area, element('form', { class: 'filters', onsubmit }, field('Id of a channel or of a video', input), element('button', { type: 'submit' }, 'Show')), list.area);
    await list.loaded;
  },
};
