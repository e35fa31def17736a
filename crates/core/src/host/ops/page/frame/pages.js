// Lists of any length in constant memory: one page at a time, by the tokens of the service. The address names the page.

import { button, element, nothing, show, table } from './dom.js';

/** A list of pages. `load(token)` gives `{ rows, next, previous, total }`; `turn(token)` shows another page. */
export async function pages({ caption, columns, load, token, turn, empty }) {
  const { rows, next, previous, total } = await load(token);
  if (rows.length === 0 && !previous) return nothing(empty);
  const back = button('Previous', () => turn(previous), { disabled: !previous });
  const forth = button('Next', () => turn(next), { disabled: !next });
  const many = total === undefined ? '' : `${total} in all`;
  return element('div', { class: 'pages' }, table(caption, columns, rows).area,
    element('p', { class: 'actions' }, back, forth, element('span', { class: 'total' }, many)));
}

/** A part of a view that is loaded by itself: it says what keeps it from that. */
export function part(title, load) {
  const body = element('div', { class: 'part', 'aria-busy': 'true' }, element('p', {}, 'Loading…'));
  const fill = async () => {
    try {
      show(body, await load(fill));
    } catch (error) {
      if (error.name !== 'AbortError') show(body, refusal(error));
    }
    body.removeAttribute('aria-busy');
  };
  const loaded = fill();
  return { area: element('section', {}, element('h2', {}, title), body), loaded };
}

/** A refusal as the service words it. */
export function refusal(error) {
  return element('p', { class: 'refusal', role: 'alert' }, error.code ? [element('code', {}, error.code), ' '] : [], error.message);
}
