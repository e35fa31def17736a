// Values on their way: what JSON has not, what looks like a mark, and what cannot travel at all.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { createBrowser } from '../../crates/tabs-api/client/index.mjs';
import { startService } from './own_server.mjs';
import { makeProfile, next } from './profile.mjs';

const MANIFEST = {
  manifest_version: 3,
  name: 'Values',
  version: '1.0',
  permissions: ['tabs', 'scripting'],
  host_permissions: ['https://*.test/*'],
};

let profile;
let session;
let browser;
let tabId;
let script;

before(async () => {
  profile = await makeProfile({ extensions: [{ manifest: MANIFEST }], keep: false });
  session = await createBrowser(profile.extensions[0]);
  ({ browser } = session);
  const loaded = next(browser.tabs.onUpdated, (_id, { status }) => status === 'complete');
  tabId = (await browser.tabs.create({ url: 'https://a.test/' })).id;
  await loaded;
  script = await session.attach({ tabId });
  script.runtime.onMessage.addListener((message, _sender, reply) => reply({ heard: message }));
});

after(async () => {
  session?.close();
  await profile?.remove();
});

const nested = (depth) => (depth === 0 ? [] : [nested(depth - 1)]);

const heardOf = async (message) => (await browser.tabs.sendMessage(tabId, message)).heard;

test('data that looks like a mark arrives as it is', async () => {
  const messages = [{ $js: 'hello' }, { a: [{ $js: 'NaN' }] }, { $js: 'undefined', b: 1 }, { $$js: 'NaN' }, { $js: { $js: 'function' } }];
  for (const message of messages) assert.deepEqual(await heardOf(message), message);
  const port = browser.tabs.connect(tabId);
  const [far] = await next(script.runtime.onConnect);
  const posted = next(far.onMessage);
  port.postMessage({ $js: 'NaN' });
  assert.deepEqual((await posted)[0], { $js: 'NaN' });
  const answered = next(port.onMessage);
  far.postMessage({ $js: 'hello' });
  assert.deepEqual((await answered)[0], { $js: 'hello' });
});

test('a message is what JSON makes of it', async () => {
  for (const [message, wanted] of [
    [{ toJSON: () => 5 }, 5],
    [{ a: undefined, b: () => 1, c: [undefined, NaN] }, { c: [null, null] }],
    [JSON.parse('{"__proto__": 1, "b": 2}'), JSON.parse('{"__proto__": 1, "b": 2}')],
    [undefined, null],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
  ]) {
    assert.deepEqual(await heardOf(message), wanted);
  }
});

test('half of a surrogate pair arrives as the replacement character, and is one in every argument', async () => {
  assert.deepEqual(await heardOf({ '\ud800': 'a\udc00' }), { '\ufffd': 'a\ufffd' });
  assert.equal(await heardOf('\u{1f600}'), '\u{1f600}');
  assert.deepEqual(await browser.tabs.query({ title: '\udc00' }), []);
  const { pendingUrl } = await browser.tabs.create({ url: 'https://a.test/\ud800', active: false });
  assert.equal(pendingUrl, 'https://a.test/%EF%BF%BD');
});

test('lists within lists arrive to the depth that the service takes', async () => {
  assert.deepEqual(await heardOf(nested(480)), nested(480));
  const tooDeep = { name: 'TypeError', message: /Could not serialize message: the service takes lists and objects of 490 levels\.$/ };
  assert.throws(() => browser.tabs.sendMessage(tabId, nested(490)), tooDeep);
  assert.throws(() => browser.tabs.connect(tabId).postMessage(nested(1000)), tooDeep);
});

test('what JSON cannot carry throws in the words of the browser', async () => {
  const circle = {};
  circle.itself = circle;
  const port = browser.tabs.connect(tabId);
  for (const message of [circle, 10n, Symbol('x'), () => 1, { toJSON: () => undefined }]) {
    const isIt = (error) => error instanceof TypeError && error.message.endsWith('Could not serialize message.');
    assert.throws(() => browser.tabs.sendMessage(tabId, message), isIt);
    assert.throws(() => port.postMessage(message), isIt);
  }
  assert.throws(() => port.postMessage(), { name: 'TypeError', message: 'Insufficient number of arguments.' });
  assert.equal(await heardOf('still there'), 'still there');
});

test('an answer that JSON cannot carry is an error of its sender', async () => {
  const other = await browser.tabs.create({ url: 'https://a.test/b', active: false });
  await next(browser.tabs.onUpdated, (id, { status }) => id === other.id && status === 'complete');
  const mute = await session.attach({ tabId: other.id });
  mute.runtime.onMessage.addListener((message, _sender, reply) => {
    if (message === 'later') return Promise.resolve(1n);
    const circle = [];
    circle.push(circle);
    return reply({ circle, deep: nested(490), function: () => 1 }[message]);
  });
  await assert.rejects(browser.tabs.sendMessage(other.id, 'deep'), /the service takes lists and objects of 490 levels/);
  for (const message of ['circle', 'function', 'later']) {
    await assert.rejects(browser.tabs.sendMessage(other.id, message), { message: 'Could not serialize message.' });
  }
});

test('a function runs where executeScript is told to, with arguments that can be handed on', async () => {
  const injection = { target: { tabId }, func: (a) => a, args: [{ $js: 'NaN' }, null, 1] };
  const [{ frameId, result }] = await browser.scripting.executeScript(injection);
  assert.deepEqual([frameId, result], [0, null]);
  for (const args of [[1, undefined], [1, () => 1], [1, 1n]]) {
    assert.throws(
      () => browser.scripting.executeScript({ ...injection, args }),
      /Error at property 'args': Error at index 1: Value is unserializable\.$/,
    );
  }
});

test('faults of an object are told in the order of its keys', () => {
  const told = (properties) => {
    try {
      browser.tabs.move(tabId, properties);
    } catch ({ message }) {
      return message.replace(/.*'moveProperties': /, '');
    }
    return 'nothing';
  };
  assert.equal(told({ index: null, foo: 1 }), "Missing required property 'index'.");
  assert.equal(told({ foo: 1, index: null }), "Unexpected property: 'foo'.");
  assert.equal(told({ windowId: null }), "Missing required property 'index'.");
});

test('a listener that is no function is passed over', async () => {
  for (const listener of [null, undefined, {}]) browser.tabs.onUpdated.addListener(listener);
  assert.equal(browser.tabs.onUpdated.hasListeners(), false);
  const muted = next(browser.tabs.onUpdated, (_id, change) => change.mutedInfo);
  await browser.tabs.update(tabId, { muted: true });
  await muted;
});

test('without promises a question needs its callback, and is shown so', async (t) => {
  const old = await makeProfile({ extensions: [{ manifest: { ...MANIFEST, manifest_version: 2 } }], keep: false });
  t.after(() => old.remove());
  const { chrome, browser: promising, close } = await createBrowser(old.extensions[0]);
  t.after(close);
  const words = (signature) => ({ name: 'TypeError', message: `Error in invocation of ${signature}: No matching signature.` });
  assert.throws(() => chrome.tabs.query({}), words('tabs.query(object queryInfo, function callback)'));
  assert.throws(() => chrome.tabs.get(1, null), words('tabs.get(integer tabId, function callback)'));
  assert.throws(() => chrome.tabs.get('x', () => {}), words('tabs.get(integer tabId, function callback)'));
  assert.throws(() => chrome.tabs.remove('x'), words('tabs.remove([integer|array] tabIds, optional function callback)'));
  assert.equal(chrome.tabs.create({ active: false }), undefined);
  assert.equal((await promising.tabs.query({})).length, 2);
});

test('bounds are those of the browser where it counts', async (t) => {
  const seed = { extensions: [{ token: 'bounds', manifest: MANIFEST }] };
  const service = await startService(seed, ['--compat', 'browser']);
  t.after(() => service.stop());
  const strict = await createBrowser({ url: service.url, token: 'bounds' });
  t.after(() => strict.close());
  assert.throws(() => strict.browser.tabs.create({ index: -1 }), /Error at property 'index': Value must be at least 0\.$/);
  assert.equal((await browser.tabs.create({ index: -1, active: false })).index, 0);
});
