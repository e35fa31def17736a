// What the lists of channels, videos and playlists have in common: a search above, pages below.

import { actor, api, byIds, page } from './api.js';
import { element, field, show } from './dom.js';
import { pages, refusal } from './pages.js';

const PAGE = 25;

/** A view that searches for things of a type or, where its address has an id, shows the one with that. `type` is `{ name, path, title, parts }`, and
 * `one(context, resource)` shows a resource with those parts. */
export function viewOf(type, one, search) {
  const showOne = async (context, id) => {
    const { items: [found] = [] } = await api(type.path, { part: type.parts, id }, { signal: context.signal });
    if (!found) {
      show(context.area, refusal({ code: `${type.name}NotFound`, message: `There is no ${type.name} ${id}, or it is hidden from the one that this page acts as.` }));
      return;
    }
    context.heading.textContent = found.snippet.title;
    await one(context, found);
  };
  return {
    name: type.path,
    title: type.title,
    show: (context) => context.parts[0] ? showOne(context, context.parts[0]) : searched(context, { type: type.name, kind: `${type.name}Id`, path: type.path, caption: type.title, ...search }),
  };
}

/** Shows what a view begins with and then its parts, each loaded by itself. */
export function showParts(area, beginning, parts) {
  show(area, beginning, parts.map((each) => each.area));
  return Promise.all(parts.map((each) => each.loaded));
}

/** Shows a search of one type. `columns` are those of the resources, which are read by the ids that were found; `above` makes what
 * stands above it. */
async function searched(context, { type, kind, path, parts, caption, columns, empty, above }) {
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
  show(area, above?.(context), form, await pages({ caption, columns, load, token: query.get('page') ?? undefined, turn: (token) => go(path, { page: token }), empty }));
}

/** Shows a list of one resource with its own pages, whose token stays out of the address. */
export async function listed(list, fill, options) {
  const content = element('div');
  const turn = async (token) => show(content, await pages({ ...options, token, turn, load: list }));
  await turn(undefined);
  return content;
}
