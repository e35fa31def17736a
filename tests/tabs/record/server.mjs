// The replay contract in front of a real Chromium: `node server.mjs FIXTURES` prints its address and serves until its input ends.
//
// It is the contract that `tabs-api serve --lab` offers, so that one scenario can be asked of both.

import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';

import { Chromium } from './chromium.mjs';
import { startDisplay } from './display.mjs';
import { startPages } from './pages.mjs';

/** Without any event for this long, a step has settled. */
const QUIET_MS = 220;
/** The same where a call changes nothing. */
const QUIET_OF_READS_MS = 60;
/** How long settling may take. */
const PATIENCE_MS = 12_000;

/** The ids of listeners in recordings. */
const LISTENER_IDS = [...'bcdefghijklmno'].map((letter) => `${letter}bcdefghijklmnopabcdefghijklmnop`);

const READS = /^(tabs\.(query|get|getCurrent|getZoom|getZoomSettings)|windows\.(get|getAll|getCurrent|getLastFocused)|tabGroups\.(get|query)|harness\.const)$/;

const fixtures = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const pages = await startPages(fixtures);
const display = await startDisplay();
let browser;
/** The extension that makes the calls. */
let extension;
/** Those that only listen, by their variants. */
let listeners = new Map();
/** Their ids, which differ with each browser, by the ones that stand in recordings. */
let names = [];
let quiet = QUIET_MS;

async function reset({ manifest_variant: variant = 'full', listeners: others = [] }) {
  try {
    return await begin(variant, others);
  } catch {
    // A scenario may have closed the last window, and with it the browser.
    await browser?.stop();
    browser = undefined;
    return begin(variant, others);
  }
}

async function begin(variant, others) {
  browser ??= await Chromium.start({ display: display.name, pages: pages.port });
  extension = await browser.extension(variant);
  listeners = new Map();
  for (const other of others) listeners.set(other, await browser.extension(other));
  names = [...listeners.values()].map(({ id }, number) => [id, LISTENER_IDS[number]]);
  const ids = await browser.ask(browser.harness, 'harness.reset');
  await browser.ask(extension, 'recorder.events', 0, 'full', 250, PATIENCE_MS);
  for (const one of [extension, ...listeners.values()]) await browser.ask(one, 'recorder.begin');
  return { ...ids, extension_id: extension.id };
}

async function call(step) {
  if (step.op === 'harness.act') return actIn(...step.args);
  if (step.op === 'harness.gesture') return gesture(...step.args);
  if (step.op === 'harness.control') return control(step.args);
  if (step.op === 'harness.uninstall') return uninstall(...step.args);
  const outcome = step.by ? await callBy(step) : await browser.ask(extension, 'recorder.call', step);
  const isRead = READS.test(step.op) || outcome.error?.kind === 'throw';
  quiet = isRead ? QUIET_OF_READS_MS : QUIET_MS;
  return outcome;
}

/** Does something that is no call; `mark` is how many events came meanwhile. */
async function act(does) {
  const before = await browser.ask(extension, 'recorder.count');
  const result = await does();
  const mark = (await browser.ask(extension, 'recorder.count')) - before;
  quiet = QUIET_MS;
  return { result, mark };
}

const actIn = (tabId, code) => act(() => browser.act(tabId, code));

/** Acts in every page of the address that the extension sees in a tab. */
async function gesture(tabId, code) {
  const { result } = await browser.ask(extension, 'recorder.call', { op: 'tabs.get', args: [tabId] });
  try {
    return await act(() => browser.gesture(result?.url, code));
  } catch (error) {
    return { error: { kind: 'harness', message: String(error) } };
  }
}

/** A call that a listener makes; `mark` counts the events that the recorded extension hears meanwhile. */
async function callBy(step) {
  const { result, mark } = await act(() => browser.ask(listeners.get(step.by), 'recorder.call', step));
  return { ...result, mark };
}

/** Takes a listener out of the browser, as its user does; it hears nothing more. */
function uninstall(variant) {
  listeners.delete(variant);
  return act(() => browser.uninstall(variant));
}

function control([program, ...line]) {
  if (program !== 'xdotool') return { unsupported: true };
  return act(() => display.act(line));
}

async function events(after, settle, listener) {
  const one = listener === null ? extension : listeners.get(listener);
  if (!one) return { events: [] };
  const length = settle === 'none' ? 0 : quiet;
  return { events: await browser.ask(one, 'recorder.events', after, settle, length, PATIENCE_MS) };
}

async function answer(request) {
  const url = new URL(request.url, 'http://localhost');
  let text = '';
  for await (const part of request) text += part;
  const body = text ? JSON.parse(text) : {};
  const asked = url.searchParams;
  switch (`${request.method} ${url.pathname}`) {
    case 'POST /oracle/reset': return reset(body);
    case 'POST /oracle/call': return call(body);
    case 'GET /oracle/events': return events(Number(asked.get('after') ?? 0), asked.get('settle') ?? 'full', asked.get('listener'));
    default: return undefined;
  }
}

const server = createServer(async (request, response) => {
  try {
    const found = await answer(request);
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    const text = JSON.stringify(found ?? { error: 'no such path' });
    response.end(names.reduce((known, [id, name]) => known.replaceAll(id, name), text));
  } catch (error) {
    response.writeHead(500, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: String(error?.message ?? error) }));
  }
});

async function stop() {
  server.closeAllConnections();
  server.close();
  await browser?.stop();
  display.stop();
  await pages.stop();
  process.exit(0);
}

process.stdin.on('end', stop).resume();
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
server.listen(Number(process.argv[3] ?? 0), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
