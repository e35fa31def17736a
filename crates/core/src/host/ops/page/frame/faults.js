// Faults on request, and the clock of the service.

import { ask } from './client.js';
import { button, element, field, moment, nothing, show, table } from './dom.js';
import { part, refusal } from './pages.js';

const STEPS = [['1 minute', 60_000], ['1 hour', 3_600_000], ['1 day', 86_400_000], ['30 days', 30 * 86_400_000]];

function faultForm(add) {
  const inputs = {
    method: element('input', { size: 6, placeholder: 'any' }),
    path: element('input', { size: 24, placeholder: 'any; its beginning' }),
    status: element('input', { type: 'number', min: 400, max: 599 }),
    reason: element('input', { size: 16 }),
    delayMs: element('input', { type: 'number', min: 0 }),
    times: element('input', { type: 'number', min: 1, value: 1 }),
  };
  const labels = { method: 'Method', path: 'Path', status: 'Status', reason: 'Reason', delayMs: 'Delay in ms', times: 'Times' };
  const said = element('div');
  const onsubmit = async (event) => {
    event.preventDefault();
    const given = Object.entries(inputs).filter(([, { value }]) => value !== '');
    const rule = Object.fromEntries(given.map(([name, { value, type }]) => [name, type === 'number' ? Number(value) : value]));
    try {
      await ask('/_ops/faults', { method: 'POST', json: rule });
      show(said);
      await add();
    } catch (error) {
      show(said, refusal(error));
    }
  };
  return element('form', { onsubmit }, element('div', { class: 'filters' }, Object.entries(inputs).map(([name, input]) => field(labels[name], input))),
    element('p', { class: 'actions' }, element('button', { type: 'submit', class: 'primary' }, 'Add this fault')), said);
}

async function rules(again, signal) {
  const { faults } = await ask('/_ops/faults', { signal });
  const remove = async ({ id }) => {
    await ask(`/_ops/faults?id=${id}`, { method: 'DELETE' }).catch(() => {});
    await again();
  };
  const any = (value) => value ?? 'any';
  const columns = [
    { title: 'Method', cell: ({ method }) => any(method) },
    { title: 'Path', cell: ({ path }) => any(path) },
    { title: 'Answer', cell: ({ status, reason }) => [status ?? 'as usual', ' ', reason ?? ''] },
    { title: 'Delay in ms', number: true, cell: ({ delayMs }) => delayMs },
    { title: 'Times left', number: true, cell: ({ times }) => times },
    { title: 'Remove', cell: (fault) => button('Remove', () => remove(fault), { 'aria-label': `Remove the fault for ${any(fault.method)} ${any(fault.path)}` }) },
  ];
  return faults.length === 0 ? nothing('No fault is in force: every request is answered as it should be.') : table('Faults in force', columns, faults).area;
}

async function clock(again, signal) {
  const { now, offsetMs } = await ask('/_ops/clock', { signal });
  const said = element('div');
  const change = async (json) => {
    try {
      await ask('/_ops/clock', { method: 'POST', json });
      await again();
    } catch (error) {
      show(said, refusal(error));
    }
  };
  const time = element('input', { type: 'text', placeholder: '2026-01-31T12:00:00Z', size: 24, required: true });
  return [
    element('p', { class: 'clock' }, moment(now), offsetMs === 0 ? ' (the time of this machine)' : ` (${Math.round(offsetMs / 1_000)} s from the time of this machine)`),
    element('p', { class: 'actions' }, STEPS.map(([label, advanceMs]) => button(`+ ${label}`, () => change({ advanceMs }))),
      button('Back to the time of this machine', () => change({ reset: true }), { disabled: offsetMs === 0 })),
    element('form', { class: 'filters', onsubmit: (event) => { event.preventDefault(); change({ set: time.value }); } },
      field('Set it to', time), element('button', { type: 'submit' }, 'Set')),
    said,
  ];
}

/** The view of faults and of the clock. */
export const faults = {
  name: 'faults',
  title: 'Faults and clock',
  async show({ area, signal }) {
    let again = async () => {};
    const list = part('Faults in force', (fill) => {
      again = fill;
      return rules(fill, signal);
    });
    const time = part('Clock', (fill) => clock(fill, signal));
    show(area, list.area, element('section', {}, element('h2', {}, 'Add a fault'), faultForm(() => again())), time.area);
    await Promise.all([list.loaded, time.loaded]);
  },
};
