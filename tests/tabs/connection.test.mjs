// The client's connection: one socket at a time, events once, and an end for every call whatever becomes of the connection.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';

import { createBrowser } from '../../crates/tabs-api/client/index.mjs';
import { makeProfile, next } from './profile.mjs';

const MANIFEST = { manifest_version: 3, name: 'Connection', version: '1.0', permissions: ['tabs'], host_permissions: ['https://*.test/*'] };
const MIB = 1024 * 1024;

/** A way to the service that breaks off. Only connections of WebSockets count. */
async function startProxy(t, target) {
  const proxy = { opened: 0, refused: 0, refusals: 0, cutsAtNext: false };
  const open = new Set();
  const server = createServer((client) => {
    const service = connect(target.port, target.hostname);
    let isSocket = false;
    const end = () => {
      open.delete(client);
      client.destroy();
      service.destroy();
    };
    client.once('data', (head) => {
      isSocket = head.includes('GET /v1/ws');
      if (!isSocket) return;
      if (proxy.refusals > 0) {
        proxy.refusals -= 1;
        proxy.refused += 1;
        end();
        server.emit('refused');
        return;
      }
      proxy.opened += 1;
      open.add(client);
    });
    client.on('data', (data) => (isSocket && proxy.cutsAtNext && !data.includes('GET /v1/ws') ? proxy.cut() : service.write(data)));
    service.on('data', (data) => client.write(data));
    for (const side of [client, service]) for (const event of ['error', 'close']) side.on(event, end);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  proxy.url = `http://127.0.0.1:${server.address().port}`;
  proxy.openCount = () => open.size;
  proxy.nextRefused = () => once(server, 'refused');
  proxy.cut = () => {
    proxy.cutsAtNext = false;
    for (const client of open) client.destroy();
  };
  /** Breaks a call off; kept once the client has heard of it. */
  proxy.lose = async (browser) => {
    proxy.cutsAtNext = true;
    await assert.rejects(browser.tabs.query({}), /^Error: The connection to tabs-api was lost: /);
  };
  return proxy;
}

async function start(t) {
  const profile = await makeProfile({ extensions: [{ manifest: MANIFEST }], keep: false });
  t.after(() => profile.remove().catch(() => undefined));
  const [extension] = profile.extensions;
  const proxy = await startProxy(t, new URL(extension.url));
  const session = await createBrowser({ ...extension, url: proxy.url });
  t.after(() => session.close());
  return { profile, proxy, session, browser: session.browser };
}

test('a lost connection comes back as one, and each event is heard once', async (t) => {
  const { proxy, browser } = await start(t);
  const heard = [];
  browser.tabs.onCreated.addListener(({ id }) => heard.push(id));
  const made = [];
  for (const refusals of [3, 2]) {
    proxy.refusals = refusals;
    await proxy.lose(browser);
    made.push((await browser.tabs.create({ active: false })).id);
  }
  await browser.tabs.query({});
  assert.deepEqual(heard, made);
  assert.deepEqual([proxy.openCount(), proxy.opened, proxy.refused], [1, 3, 5]);
});

test('what is called while there is no connection is answered once there is one, in its order', async (t) => {
  const { proxy, browser } = await start(t);
  proxy.refusals = 2;
  await proxy.lose(browser);
  const calls = ['https://a.test/', 'https://b.test/'].map((url) => browser.tabs.create({ url, active: false }));
  await proxy.nextRefused();
  calls.push(browser.tabs.create({ url: 'https://c.test/', active: false }));
  const places = (await Promise.all(calls)).map(({ index }) => index);
  assert.deepEqual(places, [1, 2, 3]);
});

test('events of the time without a connection come once it is back', async (t) => {
  const { profile, proxy, browser } = await start(t);
  const other = await createBrowser(profile.extensions[0]);
  t.after(() => other.close());
  proxy.refusals = 2;
  await proxy.lose(browser);
  const created = next(browser.tabs.onCreated);
  const { id } = await other.browser.tabs.create({ active: false });
  assert.equal((await created)[0].id, id);
});

test('declared content scripts run again where a connection was lost, before what was called meanwhile', async (t) => {
  const manifest = { ...MANIFEST, content_scripts: [{ matches: ['https://*.test/*'], js: ['content.js'] }] };
  const profile = await makeProfile({ extensions: [{ manifest }], keep: false });
  t.after(() => profile.remove());
  const proxy = await startProxy(t, new URL(profile.extensions[0].url));
  const session = await createBrowser({ ...profile.extensions[0], url: proxy.url });
  t.after(() => session.close());
  const { browser } = session;
  await session.contentScripts((script) => script.runtime.onMessage.addListener((message, _sender, reply) => reply(message)));
  const loaded = next(browser.tabs.onUpdated, (_id, { status }) => status === 'complete');
  const { id } = await browser.tabs.create({ url: 'https://a.test/' });
  await loaded;
  proxy.refusals = 1;
  await proxy.lose(browser);
  assert.equal(await browser.tabs.sendMessage(id, 'again'), 'again');
});

test('a port of a lost connection is over, and one that is opened at once is not', async (t) => {
  const { proxy, session, browser } = await start(t);
  const loaded = next(browser.tabs.onUpdated, (_id, { status }) => status === 'complete');
  const { id } = await browser.tabs.create({ url: 'https://a.test/' });
  await loaded;
  await session.attach({ tabId: id });
  const port = browser.tabs.connect(id);
  const again = new Promise((resolve) => port.onDisconnect.addListener(() => resolve(browser.tabs.connect(id))));
  await proxy.lose(browser);
  const second = await again;
  // Nobody plays the script any more, and the service says so of the port that reached it.
  await next(second.onDisconnect);
  assert.throws(() => port.postMessage(1), { message: 'Attempting to use a disconnected port object' });
});

test('where no attempt can do better, calls that wait and calls to come say why', async (t) => {
  const { profile, browser } = await start(t);
  await profile.remove();
  // The service ends the connection, and knows the token no more.
  const refused = /^Error: The connection to tabs-api was lost: /;
  await assert.rejects(browser.tabs.query({}), refused);
  await assert.rejects(browser.tabs.query({}), /\/v1\/ws answered 401$/);
  await assert.rejects(browser.tabs.query({}), /\/v1\/ws answered 401$/);
  await next(browser.tabs.connect(1).onDisconnect);
});

test('closing ends the calls under way, and those to come', async (t) => {
  const { session, browser } = await start(t);
  const [{ id }] = await browser.tabs.query({});
  const closed = { message: 'The connection to tabs-api was closed' };
  const waits = assert.rejects(browser.tabs.get(id), closed);
  session.close();
  await assert.rejects(browser.tabs.get(id), closed);
  await waits;
});

test('closing ends the calls that wait for a connection', async (t) => {
  const { proxy, session, browser } = await start(t);
  proxy.refusals = Infinity;
  await proxy.lose(browser);
  const waits = assert.rejects(browser.tabs.query({}), { message: 'The connection to tabs-api was closed' });
  session.close();
  await waits;
  await assert.rejects(browser.tabs.query({}), { message: 'The connection to tabs-api was closed' });
});

test('a message that is too long throws, and the connection goes on', async (t) => {
  const { session, browser, proxy } = await start(t);
  const loaded = next(browser.tabs.onUpdated, (_id, { status }) => status === 'complete');
  const { id } = await browser.tabs.create({ url: 'https://a.test/' });
  await loaded;
  const script = await session.attach({ tabId: id });
  const tooLong = /Message length exceeded maximum allowed length\.$/;
  const thrown = (error) => error instanceof TypeError && tooLong.test(error.message);
  for (const message of ['x'.repeat(16 * MIB), 'é'.repeat(8 * MIB)]) {
    assert.throws(() => browser.tabs.sendMessage(id, message), thrown);
    assert.throws(() => browser.tabs.connect(id).postMessage(message), thrown);
  }
  script.runtime.onMessage.addListener((message, _sender, reply) => reply('x'.repeat(message)));
  assert.equal((await browser.tabs.sendMessage(id, 15 * MIB)).length, 15 * MIB);
  await assert.rejects(browser.tabs.sendMessage(id, 16 * MIB), tooLong);
  assert.equal(proxy.opened, 1);
});

test('a frame that the service cannot read rejects its call', async (t) => {
  const { session, browser } = await start(t);
  const [{ id }] = await browser.tabs.query({});
  await assert.rejects(session.attach({ tabId: id, frameId: -1 }), /the frame cannot be read/);
  assert.equal((await browser.tabs.get(id)).id, id);
});

test('the current window of a popup is the one that it belongs to', async (t) => {
  const { profile, browser } = await start(t);
  const [{ windowId }] = await browser.tabs.query({});
  const { id: other } = await browser.windows.create({});
  assert.equal((await browser.windows.getCurrent()).id, other);
  const popup = await createBrowser({ ...profile.extensions[0], context: { type: 'popup', windowId } });
  t.after(() => popup.close());
  assert.equal((await popup.browser.windows.getCurrent()).id, windowId);
  const found = await popup.browser.tabs.query({ currentWindow: true });
  assert.deepEqual(found.map((tab) => tab.windowId), [windowId]);
  assert.equal((await popup.browser.tabs.create({})).windowId, windowId);
  assert.equal(await popup.browser.tabs.getCurrent(), undefined);
  await browser.windows.remove(windowId);
  assert.equal((await popup.browser.windows.getCurrent()).id, other);
});
