// Elements of the page. Text becomes text nodes and nothing else, so that what is stored is shown and never becomes markup.

const SVG = 'http://www.w3.org/2000/svg';

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children.flat(9).filter((child) => child !== undefined && child !== null && child !== false));
  return made;
}

/** An element with attributes, listeners (`onclick` and their like) and children. */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same of a drawing. */
export function drawn(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

/** Puts children in the place of those of an element. */
export function show(parent, ...children) {
  parent.replaceChildren();
  return filled(parent, {}, children);
}

/** A button. */
export function button(label, onclick, attributes = {}) {
  return element('button', { type: 'button', onclick, ...attributes }, label);
}

/** A link to a view of this page. */
export function viewLink(path, ...children) {
  return element('a', { href: `#/${path}` }, ...children);
}

/** A link out of this page, if its address is one of a web page; else its text alone. */
export function outLink(address, ...children) {
  const url = URL.canParse(address, location.href) ? new URL(address, location.href) : undefined;
  if (!url || !['http:', 'https:'].includes(url.protocol)) return element('span', {}, ...children);
  return element('a', { href: url.href, target: '_blank', rel: 'noopener noreferrer' }, ...children);
}

/** A field of a form with its label. */
export function field(label, control) {
  return element('label', { class: 'field' }, element('span', {}, label), control);
}

/** A table that scrolls within itself. Columns are `{ title, cell(row), number }`; `onopen` makes rows open with a button of their first cell. */
export function table(caption, columns, rows) {
  const head = element('tr', {}, columns.map(({ title, number }) => element('th', { scope: 'col', class: number && 'number' }, title)));
  const body = element('tbody');
  const write = (some) => show(body, some.map((row) => rowOf(columns, row)));
  write(rows);
  const made = element('table', {}, element('caption', {}, caption), element('thead', {}, head), body);
  const area = element('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, made);
  return { area, body, write };
}

/** One row of a table with these columns. */
export function rowOf(columns, row) {
  return element('tr', {}, columns.map(({ cell, number }) => element('td', { class: number && 'number' }, cell(row))));
}

/** Names with what they are, as a list. */
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== undefined && value !== null && value !== '');
  return element('dl', { class: 'facts' }, shown.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, value))));
}

/** A sentence of a view that has nothing to show. */
export function nothing(...children) {
  return element('p', { class: 'nothing' }, ...children);
}

/** A button that copies a text. */
export function copyButton(text, label = 'Copy') {
  const made = button(label, async () => {
    try {
      await navigator.clipboard.writeText(typeof text === 'function' ? text() : text);
      made.textContent = 'Copied';
    } catch {
      made.textContent = 'Not allowed to copy';
    }
    setTimeout(() => { made.textContent = label; }, 2_000);
  });
  return made;
}

const NUMBERS = new Intl.NumberFormat('en');

/** A number with its thousands apart. */
export function count(number) {
  return NUMBERS.format(Number(number ?? 0));
}

/** A number of bytes in the unit that fits. */
export function bytes(number) {
  let [left, at] = [Number(number), 0];
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  while (left >= 1024 && at < units.length - 1) [left, at] = [left / 1024, at + 1];
  return `${left.toFixed(at > 0 && left < 100 ? 1 : 0)} ${units[at]}`;
}

/** A time of the service, as it stands in its answers, in short. */
export function moment(text) {
  return element('time', { datetime: text, title: text }, String(text).replace('T', ' ').replace(/\.\d+/, ''));
}
