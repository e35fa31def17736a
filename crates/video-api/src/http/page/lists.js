// What the lists of channels, videos and playlists have in common: a search above, pages below.

import { actor, byIds, page } from './api.js';
import { element, field, show } from './dom.js';
import { pages } from './pages.js';

const PAGE = 25;

/** Shows a search of one type. `columns` are those of the resources, which are read by the ids that were found. */
export async function searched(context, { type, kind, path, parts, caption, columns, empty }) {
  const { area, query, signal, go } = context;
  const mine = query.has('mine') && actor();
  const words = element('input', { type: 'search', value: query.get('q') ?? '', size: 30 });
  const own = element('input', { type: 'checkbox', checked: Boolean(mine), onchange: ({ target }) => go(path, { mine: target.checked ? '1' : '', page: undefined }) });
  const onsubmit = (event) => {
    event.preventDefault();
    go(path, { q: words.value.trim(), page: undefined });
  };
  const form = element('form', { class: 'filters', role: 'search', onsubmit }, field('Words', words), element('button', { type: 'submit' }, 'Search'),
    type === 'video' && actor() && element('label', {}, own, ` Only those of ${actor()}, also hidden ones`));
  const load = (pageToken) => page('search', { part: 'id', type, q: query.get('q'), order: query.get('q') ? undefined : 'date', forMine: mine && type === 'video' ? 'true' : undefined, maxResults: PAGE, pageToken },
    { signal }, (items) => byIds(path, items.map(({ id }) => id[kind]), { part: parts }, { signal }));
  show(area, form, await pages({ caption, columns, load, token: query.get('page') ?? undefined, turn: (token) => go(path, { page: token }), empty }));
}

/** Shows a list of one resource with its own pages, whose token stays out of the address. */
export async function listed(list, fill, options) {
  const content = element('div');
  const turn = async (token) => show(content, await pages({ ...options, token, turn, load: list }));
  await turn(undefined);
  return content;
}
