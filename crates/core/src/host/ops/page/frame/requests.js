// The last thousand requests, live; one that is opened shows what its client sent and why it was answered so.

import { ask } from './client.js';
import { button, copyButton, element, facts, field, moment, rowOf, show, table } from './dom.js';
import { follow } from './events.js';

const KEPT = 1_000;

function milliseconds(micros) {
  return (micros / 1_000).toFixed(micros < 10_000 ? 2 : 0);
}

/** A request as a command line. Secrets were never told, so that they stand as three dots. */
function curl({ method, host, target }, { headers, body }) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const left = ['host', 'content-length', 'connection', 'accept-encoding'];
  const lines = headers.split('\n').filter((line) => line.includes(': ') && !left.includes(line.split(': ')[0]));
  const parts = [`curl -X ${method} ${quoted(`${location.protocol}//${host}${target}`)}`, ...lines.map((line) => `-H ${quoted(line)}`)];
  if (body) parts.push(`--data-raw ${quoted(body)}`);
  return parts.join(' \\\n  ');
}

function text(title, content) {
  if (!content) return undefined;
  return element('section', {}, element('h3', {}, title), element('pre', { tabindex: 0, role: 'region', 'aria-label': title }, content));
}

async function opened(area, id, close, signal) {
  const { request, detail } = await ask(`/_ops/requests?id=${encodeURIComponent(id)}`, { signal });
  const rule = detail.fault && JSON.stringify(detail.fault, undefined, 2);
  show(area, element('section', { class: 'opened', 'aria-label': 'Request' },
    element('p', { class: 'actions' }, button('Close', close), copyButton(() => curl(request, detail), 'Copy as curl')),
    element('h2', { tabindex: -1 }, `${request.method} ${request.target}`),
    facts([['Status', request.status], ['Operation', request.operation], ['Time', moment(request.time)], ['Took', `${milliseconds(request.micros)} ms`],
      ['From', request.peer], ['Id', element('code', {}, request.id)]]),
    text('The error', detail.error), text('The fault on request that gave it', rule), text('Head', detail.headers), text('Body, at most its first 4 KiB', detail.body)));
}

/** The view of requests. */
export const requests = {
  name: 'requests',
  title: 'Requests',
  async show({ area, parts: [id], query, signal, go }) {
    const rows = [];
    const filters = { q: query.get('q') ?? '', operation: query.get('operation') ?? '', status: query.get('status') ?? '' };
    const keep = () => {
      const text = new URLSearchParams(Object.entries(filters).filter(([, value]) => value)).toString();
      return `requests${id ? `/${encodeURIComponent(id)}` : ''}${text ? `?${text}` : ''}`;
    };
    const open = (row) => go(`requests/${encodeURIComponent(row.id)}`, filters);
    const columns = [
      { title: 'Time', cell: ({ time }) => moment(time) },
      { title: 'Status', number: true, cell: ({ status }) => element('span', { class: `status status-${Math.floor(status / 100)}` }, status) },
      { title: 'Method', cell: ({ method }) => method },
      { title: 'Path', cell: (row) => button(row.target, () => open(row), { class: 'link' }) },
      { title: 'Operation', cell: ({ operation }) => operation },
      { title: 'ms', number: true, cell: ({ micros }) => milliseconds(micros) },
      { title: 'From', cell: ({ peer }) => peer },
    ];
    const fits = ({ method, target, operation, status, peer }) =>
      (!filters.q || `${method} ${target} ${peer}`.toLowerCase().includes(filters.q.toLowerCase())) &&
      (!filters.operation || operation.toLowerCase().includes(filters.operation.toLowerCase())) &&
      (!filters.status || String(status).startsWith(filters.status.replace(/x+$/, '')));
    const { area: list, body, write } = table('The last requests, the newest first', columns, []);
    const note = element('p', { class: 'note', role: 'status' }, '');
    const redraw = () => write(rows.filter(fits));
    const input = (name, label, size) => field(label, element('input', {
      type: 'search', value: filters[name], size,
      oninput: ({ target }) => {
        filters[name] = target.value.trim();
        history.replaceState(undefined, '', `#/${keep()}`);
        redraw();
      },
    }));
    const detail = element('div');
    show(area, element('div', { class: 'filters' }, input('q', 'Text', 20), input('operation', 'Operation', 20), input('status', 'Status', 6)), note, detail, list);
    if (id) opened(detail, id, () => go('requests', filters), signal).catch((error) => show(detail, element('p', { class: 'refusal' }, error.message)));
    const heard = (events) => {
      const newest = events.slice(-KEPT).reverse();
      rows.unshift(...newest);
      rows.length = Math.min(rows.length, KEPT);
      body.prepend(...newest.filter(fits).map((row) => rowOf(columns, row)));
      while (body.rows.length > KEPT) body.deleteRow(-1);
    };
    const connected = (is) => { note.textContent = is ? 'Live' : 'The service is gone; this goes on where it stopped.'; };
    follow('/_ops/requests/live', { heard, connected, signal });
  },
};
