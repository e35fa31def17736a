// The frame of the page: views by the address, the line that says whether the service is there, and whatever view is shown.

import { reading, request } from './client.js';
import { element, show, viewLink } from './dom.js';
import { faults } from './faults.js';
import { health } from './health.js';
import { refusal } from './pages.js';
import { requests } from './requests.js';
import { service } from './service.js';
import { start } from './start.js';

const main = document.getElementById('main');
const state = document.getElementById('state');
const views = [start(service), ...service.views, requests, faults, health];
/** Parameters that go with the user from view to view, such as who is acted as. */
const carried = new Map();
let shown = new AbortController();
let [viewShown, isFirst] = [undefined, true];

/** The view that the address names, with the rest of the path and the query. */
function asked() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name, ...parts] = path.split('/').map(decodeURIComponent);
  return { view: views.find((view) => view.name === name), parts, query: new URLSearchParams(query) };
}

/** Shows a view with changed parameters; those without a value leave the address. */
function go(path, changes = {}) {
  const { query } = asked();
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  location.hash = `#/${path}${text ? `?${text}` : ''}`;
}

/** Takes what is carried from the address, and writes what it lacks into it. */
function carry() {
  const { query } = asked();
  for (const name of service.carried ?? []) {
    if (query.has(name)) carried.set(name, query.get(name));
    else if (carried.get(name)) query.set(name, carried.get(name));
  }
  const text = query.toString();
  const path = location.hash.split('?')[0] || '#/';
  history.replaceState(undefined, '', `${path}${text ? `?${text}` : ''}`);
  service.enter?.(carried);
}

async function route() {
  carry();
  const { view = views[0], parts, query } = asked();
  shown.abort();
  shown = new AbortController();
  const { signal } = shown;
  for (const link of document.querySelectorAll('#views a')) {
    if (link.dataset.view === view.name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${view.title} · ${document.documentElement.dataset.service}`;
  const area = element('div', { class: `view view-${view.name}` });
  const heading = element('h1', { tabindex: -1 }, view.title);
  show(main, heading, area);
  if (!isFirst && viewShown !== view.name) heading.focus();
  [viewShown, isFirst] = [view.name, false];
  main.setAttribute('aria-busy', 'true');
  main.dataset.address = location.hash;
  try {
    await view.show({ area, heading, parts, query, signal, go, again: route });
  } catch (error) {
    if (signal.aborted) return;
    area.append(refusal(error));
  }
  if (!signal.aborted) main.removeAttribute('aria-busy');
}

/** Says whether the service is there, whatever is shown. */
async function watch() {
  let isThere = true;
  for (;;) {
    const answer = await request('/_ops/health/ready').catch(() => undefined);
    const word = answer === undefined ? 'gone' : answer.status === 503 ? 'not ready' : 'ready';
    state.textContent = word;
    state.className = `state state-${word.replace(' ', '-')}`;
    // What could not be shown while the service was away is shown once it is back.
    if (answer !== undefined && !isThere) route();
    isThere = answer !== undefined;
    await new Promise((resolve) => setTimeout(resolve, isThere ? 5_000 : 1_000));
  }
}

reading.error = service.error ?? reading.error;
show(document.getElementById('views'), views.map(({ name, title }) => {
  const link = viewLink(name, title);
  link.dataset.view = name;
  return element('li', {}, link);
}));
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener('hashchange', route);
service.begin?.({
  tools: document.getElementById('tools'),
  set: (name, value) => {
    carried.set(name, value);
    go(location.hash.replace(/^#\/?/, '').split('?')[0], { [name]: value, page: undefined });
  },
});
watch();
route();
