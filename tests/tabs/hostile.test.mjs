// A hostile page in a real Chromium, which even knows the token, gets nowhere; an allowed page uses the client.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { startService, startSite } from './own_server.mjs';

const CLIENT = new URL('../../crates/tabs-api/client/', import.meta.url);
const TOKEN = 'known-to-the-attacker';
const SEED = { extensions: [{ token: TOKEN, manifest: { name: 'Victim', permissions: ['tabs'] } }] };
const CHROMIUM = ['chromium', '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];

let site;
let service;
let told;

/** What each way of asking came to: `refused`, or what was got. */
async function attack(base, token) {
  const ways = {
    fetch: () => fetch(`${base}/v1/tabs/query`, { method: 'POST', body: '[{}]', headers: { Authorization: `Bearer ${token}` } }).then((r) => r.text()),
    simple: () => fetch(`${base}/v1/tabs/create?token=${token}`, { method: 'POST', body: '[{}]', headers: { 'Content-Type': 'text/plain' } }).then((r) => r.text()),
    schema: () => fetch(`${base}/v1/schema`).then((r) => r.text()),
    socket: () =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`${base.replace('http', 'ws')}/v1/ws?token=${token}`);
        socket.onopen = () => resolve('open');
        socket.onerror = reject;
      }),
    events: () =>
      new Promise((resolve, reject) => {
        const source = new EventSource(`${base}/v1/events?token=${token}`);
        source.onopen = () => resolve('open');
        source.onerror = reject;
      }),
    script: () =>
      new Promise((resolve, reject) => {
        const script = Object.assign(document.createElement('script'), { src: `${base}/v1/schema`, onload: () => resolve('loaded'), onerror: reject });
        document.head.append(script);
      }),
    picture: () =>
      new Promise((resolve, reject) => {
        Object.assign(new Image(), { onload: () => resolve('loaded'), onerror: reject, src: `${base}/v1/events?token=${token}` });
      }),
  };
  const outcomes = {};
  for (const [name, way] of Object.entries(ways)) outcomes[name] = await way().catch(() => 'refused');
  // What needs no answer: a form, a beacon, and a request whose answer is hidden. They are over when the frame has loaded.
  const frame = Object.assign(document.createElement('iframe'), { name: 'sink' });
  document.body.append(frame);
  const form = Object.assign(document.createElement('form'), { method: 'POST', target: 'sink', enctype: 'text/plain', action: `${base}/v1/tabs/create?token=${token}` });
  form.append(Object.assign(document.createElement('input'), { name: '[{"url":"https://form.test/', value: '"}]' }));
  document.body.append(form);
  const loaded = new Promise((resolve) => (frame.onload = resolve));
  form.submit();
  await loaded;
  navigator.sendBeacon(`${base}/v1/tabs/create?token=${token}`, '[{"url":"https://beacon.test/"}]');
  await fetch(`${base}/v1/tabs/create?token=${token}`, { method: 'POST', mode: 'no-cors', body: '[{"url":"https://hidden.test/"}]' }).catch(() => undefined);
  return outcomes;
}

const page = (script) => `<!doctype html><body><script type="module">
  const tell = (what) => fetch('/told', { method: 'POST', body: JSON.stringify(what) });
  try { await tell(await (async () => { ${script} })()); } catch (error) { await tell({ error: String(error) }); }
</script>`;

function answer(request, response) {
  const { pathname, searchParams } = new URL(request.url, 'http://x');
  const send = (type, text) => response.writeHead(200, { 'content-type': type }).end(text);
  if (pathname === '/told') {
    const pieces = [];
    request.on('data', (piece) => pieces.push(piece));
    request.on('end', () => told?.(JSON.parse(Buffer.concat(pieces))));
    return send('text/plain', 'ok');
  }
  const base = searchParams.get('base');
  if (pathname === '/evil') return send('text/html', page(`${attack}; return attack('${base}', '${TOKEN}');`));
  if (pathname === '/good') {
    return send(
      'text/html',
      page(`const { createBrowser } = await import('/client/index.mjs');
        const session = await createBrowser({ url: '${base}', token: '${TOKEN}' });
        const tab = await session.browser.tabs.create({ url: 'https://by-a-page.test/', active: false });
        const tabs = await session.browser.tabs.query({});
        return { found: tabs.some(({ id }) => id === tab.id) };`),
    );
  }
  if (pathname.startsWith('/client/')) return send('text/javascript', readFileSync(new URL(pathname.slice(8), CLIENT)));
  return response.writeHead(404).end();
}

before(async () => {
  site = await startSite(answer);
  service = await startService(SEED, ['--allow-origin', `http://good.test:${site.port}`]);
});

after(async () => {
  await service?.stop();
  await site?.stop();
});

/** Runs Chromium on an address until `isOver` is kept or it ends; gives what it printed. */
async function visit(address, flags, isOver) {
  const folder = mkdtempSync(join(tmpdir(), 'chromium-'));
  const [program, ...fixed] = CHROMIUM;
  const own = [`--user-data-dir=${folder}`, '--host-resolver-rules=MAP *.test 127.0.0.1', ...flags, address];
  const child = spawn(program, [...fixed, ...own], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  let printed = '';
  child.stdout.on('data', (piece) => (printed += piece));
  const ended = new Promise((resolve, reject) => {
    // Closed, not only ended: its processes share its output, and the last of them still writes into the folder.
    child.on('close', resolve);
    child.on('error', ({ code }) => reject(new Error(`${program} does not start (${code}): apt-get install chromium`)));
  });
  await Promise.race([isOver ?? ended, ended]);
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch ({ code }) {
    if (code !== 'ESRCH') throw code;
  }
  await ended;
  rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
  return printed;
}

/** What a page of the site tells after it has done its work. */
async function outcomeOf(path, host) {
  const telling = new Promise((resolve) => (told = resolve));
  const base = encodeURIComponent(service.url);
  await visit(`http://${host}:${site.port}${path}?base=${base}`, [], telling);
  return Promise.race([telling, Promise.reject(new Error('the page told nothing'))]);
}

async function strip() {
  const reply = await fetch(`${service.url}/v1/tabs/query`, { method: 'POST', headers: { Authorization: `Bearer ${TOKEN}` }, body: '[{}]' });
  return (await reply.json()).result.map((tab) => tab.pendingUrl ?? tab.url);
}

test('a page of a foreign origin reads nothing and changes nothing, though it knows the token', async () => {
  const outcomes = await outcomeOf('/evil', 'evil.test');
  for (const [way, outcome] of Object.entries(outcomes)) assert.equal(outcome, 'refused', way);
  assert.deepEqual(Object.keys(outcomes), ['fetch', 'simple', 'schema', 'socket', 'events', 'script', 'picture']);
  assert.deepEqual(await strip(), ['about:blank']);
});

test('a name that was rebound to this machine is refused', async () => {
  const { port } = new URL(service.url);
  const shown = await visit(`http://rebound.test:${port}/v1/schema`, ['--dump-dom']);
  assert.match(shown, /ForeignHost/);
  assert.doesNotMatch(shown, /tabs\.create/);
});

test('a page of an allowed origin uses the client', async () => {
  assert.deepEqual(await outcomeOf('/good', 'good.test'), { found: true });
});
