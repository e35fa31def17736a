// Whether the service is well: the figures of its metrics, and how they went in the minutes since this view was opened.

import { ask } from './client.js';
import { chart } from './chart.js';
import { bytes, count, element, facts, show } from './dom.js';
import { refusal } from './pages.js';

const EVERY_MS = 2_000;

/** The figures of a page of metrics: the sum over all labels by name, and that of answers from 500 on. */
function read(text) {
  const sums = new Map();
  for (const line of text.split('\n')) {
    const found = line.startsWith('#') ? undefined : line.match(/^(\w+)(\{[^}]*\})? (\S+)$/);
    if (!found) continue;
    const [, name, labels = '', value] = found;
    sums.set(name, (sums.get(name) ?? 0) + Number(value));
    if (name === 'http_requests_total' && /status="5/.test(labels)) sums.set('failed', (sums.get('failed') ?? 0) + Number(value));
  }
  return sums;
}

const FIGURES = [
  ['Requests being answered', 'http_requests_running', count], ['Connections', 'http_connections', count], ['Memory', 'process_resident_memory_bytes', bytes],
  ['Most memory ever', 'process_peak_memory_bytes', bytes], ['Handlers that panicked', 'http_panics_total', count], ['Records on disk', 'kv_disk_bytes', bytes],
  ['Syncs of the journal', 'kv_syncs_total', count], ['The last sync took', 'kv_last_sync_seconds', (seconds) => `${(seconds * 1_000).toFixed(1)} ms`],
  ['Packs', 'blobs_packs', count], ['Bytes of packs', 'blobs_pack_bytes', bytes], ['Of deleted bodies in packs', 'blobs_pack_dead_bytes', bytes],
  ['Bodies without a record, swept', 'blobs_orphans_swept_total', count],
];

/** The view of health. */
export const health = {
  name: 'health',
  title: 'Health',
  async show({ area, signal }) {
    const rate = (value) => `${value.toFixed(value < 10 ? 1 : 0)} a second`;
    const charts = {
      requests: chart('Requests', rate),
      failed: chart('Answers from 500 on', rate),
      took: chart('Mean time of an answer', (value) => `${value.toFixed(2)} ms`),
      memory: chart('Memory', bytes),
    };
    const figures = element('div');
    show(area, element('div', { class: 'charts' }, Object.values(charts).map((each) => each.area)), element('section', {}, element('h2', {}, 'Figures'), figures));
    const draw = (now, before, seconds) => {
      const change = (name) => Math.max(0, (now.get(name) ?? 0) - (before.get(name) ?? 0));
      const answered = change('http_requests_total');
      charts.requests.add(answered / seconds);
      charts.failed.add(change('failed') / seconds);
      charts.took.add(answered ? (change('http_request_seconds_sum') / answered) * 1_000 : 0);
      charts.memory.add(now.get('process_resident_memory_bytes') ?? 0);
    };
    let [before, at] = [undefined, 0];
    const look = async () => {
      const now = read(await ask('/_ops/metrics', { signal }));
      if (before) draw(now, before, (performance.now() - at) / 1_000);
      [before, at] = [now, performance.now()];
      show(figures, facts(FIGURES.filter(([, name]) => now.has(name)).map(([label, name, text]) => [label, text(now.get(name))])));
    };
    await look();
    const timer = setInterval(() => look().catch((error) => !signal.aborted && show(figures, refusal(error))), EVERY_MS);
    signal.addEventListener('abort', () => clearInterval(timer));
  },
};
