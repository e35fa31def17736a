// Content scripts over the wire: the two sides of tabs.sendMessage and tabs.connect, from one client or from two.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { createBrowser } from '../../crates/tabs-api/client/index.mjs';
import { control, makeProfile, next } from './profile.mjs';

const MANIFEST = {
  manifest_version: 3,
  name: 'Scripts',
  version: '1.0',
  permissions: ['tabs'],
  host_permissions: ['https://may.test/*'],
  content_scripts: [{ matches: ['https://*.example.test/*'], js: ['content.js'], all_frames: true }],
};
const PAGES = {
  'https://www.example.test/': { title: 'Outer', iframes: ['https://ads.example.test/', 'https://other.test/'] },
  'https://ads.example.test/': { title: 'Inner' },
};
const NO_RECEIVER = { message: 'Could not establish connection. Receiving end does not exist.' };
const CACHED =
  'The page keeping the extension port is moved into back/forward cache, so the message channel is closed.';

let profile;
let session;
let browser;
let chrome;
/** The declared scripts that run, oldest first. */
const running = [];

before(async () => {
  profile = await makeProfile({ extensions: [{ manifest: MANIFEST }], pages: PAGES });
  session = await createBrowser(profile.extensions[0]);
  ({ browser, chrome } = session);
  await session.contentScripts((script) => running.push(script));
});

after(async () => {
  session.close();
  await profile.remove();
});

/** A tab that shows a page. */
async function open(url) {
  const complete = next(browser.tabs.onUpdated, (_id, change, tab) => change.status === 'complete' && tab.url === url);
  const { id } = await browser.tabs.create({ url, active: false });
  await complete;
  return id;
}

const scriptsOf = (tabId) => running.filter((script) => script.tabId === tabId && script.isRunning);

test('a declared script runs in every frame that its patterns match, and in no other', async () => {
  const id = await open('https://www.example.test/');
  const scripts = scriptsOf(id);
  assert.deepEqual(scripts.map(({ frameId, url }) => [frameId, url]), [
    [0, 'https://www.example.test/'],
    [2, 'https://ads.example.test/'],
  ]);
  assert.deepEqual(scripts[0].files, ['content.js']);
  assert.match(scripts[0].documentId, /^[0-9A-F]{32}$/);
  assert.notEqual(scripts[0].documentId, scripts[1].documentId);
});

test('a message reaches all frames, one frame, or one document, and the first answer is the result', async () => {
  const id = await open('https://www.example.test/');
  const [outer, inner] = scriptsOf(id);
  const heard = [];
  outer.runtime.onMessage.addListener((message, sender, sendResponse) => {
    heard.push(sender);
    sendResponse({ from: 'outer', message });
  });
  inner.runtime.onMessage.addListener((message, _sender, sendResponse) => {
    setTimeout(() => sendResponse({ from: 'inner', message }), 5);
    return true;
  });
  assert.deepEqual(await browser.tabs.sendMessage(id, { a: [1, null] }), { from: 'outer', message: { a: [1, null] } });
  assert.deepEqual(heard, [{ id: browser.runtime.id }]);
  const { documentId } = inner;
  for (const options of [{ frameId: 2 }, { documentId }, { frameId: 2, documentId }]) {
    assert.deepEqual(await browser.tabs.sendMessage(id, 'x', options), { from: 'inner', message: 'x' });
  }
  await assert.rejects(browser.tabs.sendMessage(id, 'x', { frameId: 7 }), NO_RECEIVER);
  await assert.rejects(browser.tabs.sendMessage(id, 'x', { frameId: 0, documentId }), NO_RECEIVER);
});

test('a listener may answer with a promise, with nothing, or by throwing', async () => {
  const id = await open('https://www.example.test/');
  const [outer] = scriptsOf(id);
  const frame = { frameId: 0 };
  outer.runtime.onMessage.addListener((message) => {
    if (message === 'promise') return Promise.resolve({ promised: true });
    if (message === 'throw') throw new Error('boom');
    return undefined;
  });
  assert.deepEqual(await browser.tabs.sendMessage(id, 'promise', frame), { promised: true });
  await assert.rejects(browser.tabs.sendMessage(id, 'throw', frame), { message: 'boom' });
  assert.equal(await browser.tabs.sendMessage(id, 'nothing', frame), undefined);
  const error = await new Promise((resolve) =>
    chrome.tabs.sendMessage(id, 'nothing', frame, (...values) => resolve([values, chrome.runtime.lastError?.message])),
  );
  assert.deepEqual(error, [[], 'The message port closed before a response was received.']);
});

test('a message to a page without a script, and one to no tab, find no receiver', async () => {
  const id = await open('https://elsewhere.test/');
  await assert.rejects(browser.tabs.sendMessage(id, 1), NO_RECEIVER);
  await assert.rejects(browser.tabs.sendMessage(2000000001, 1), NO_RECEIVER);
  const [disconnected] = await next(browser.tabs.connect(2000000001).onDisconnect, () => {
    assert.equal(browser.runtime.lastError.message, NO_RECEIVER.message);
    return true;
  });
  assert.throws(() => disconnected.postMessage(1), { message: 'Attempting to use a disconnected port object' });
});

test('a port carries messages both ways until one side closes it', async () => {
  const id = await open('https://www.example.test/');
  const [outer] = scriptsOf(id);
  const connected = next(outer.runtime.onConnect);
  const port = browser.tabs.connect(id, { name: 'talk', frameId: 0 });
  port.postMessage('early');
  const [theirs] = await connected;
  assert.equal(theirs.name, 'talk');
  assert.deepEqual((await next(theirs.onMessage))[0], 'early');
  theirs.postMessage({ back: 1 });
  assert.deepEqual((await next(port.onMessage))[0], { back: 1 });
  theirs.disconnect();
  await next(port.onDisconnect);
  const again = next(outer.runtime.onConnect);
  const second = browser.tabs.connect(id, { frameId: 0 });
  const [their] = await again;
  second.disconnect();
  await next(their.onDisconnect);
});

test('a frozen page hears of messages and ports once it runs again', async () => {
  const id = await open('https://www.example.test/');
  const [outer] = scriptsOf(id);
  const heard = [];
  outer.runtime.onConnect.addListener(({ name }) => heard.push(name));
  outer.runtime.onMessage.addListener((message, _sender, answer) => answer(heard.push(message)));
  const freeze = (frozen) => control('POST', `?profile=${profile.name}`, { type: 'freeze', tabId: id, frozen });
  await freeze(true);
  browser.tabs.connect(id, { name: 'port', frameId: 0 });
  const answer = browser.tabs.sendMessage(id, 'message', { frameId: 0 });
  assert.equal((await browser.tabs.get(id)).frozen, true);
  assert.deepEqual(heard, []);
  await freeze(false);
  assert.equal(await answer, 2);
  assert.deepEqual(heard, ['port', 'message']);
});

test('a navigation ends scripts, ports and messages under way, and the next page has scripts of its own', async () => {
  const id = await open('https://www.example.test/');
  const [outer] = scriptsOf(id);
  outer.runtime.onMessage.addListener(() => true);
  const pending = assert.rejects(browser.tabs.sendMessage(id, 'x', { frameId: 0 }), { message: CACHED });
  const closed = next(browser.tabs.connect(id).onDisconnect, () => browser.runtime.lastError?.message === CACHED);
  const gone = next(outer.onGone);
  await browser.tabs.update(id, { url: 'https://ads.example.test/' });
  await Promise.all([pending, closed, gone]);
  assert.deepEqual(scriptsOf(id).map(({ url }) => url), ['https://ads.example.test/']);
});

test('a closed tab ends a promised answer with the reason', async () => {
  const id = await open('https://www.example.test/');
  const [outer] = scriptsOf(id);
  outer.runtime.onMessage.addListener(() => true);
  const heard = next(outer.runtime.onMessage);
  const pending = assert.rejects(browser.tabs.sendMessage(id, 'x', { frameId: 0 }), {
    message:
      'A listener indicated an asynchronous response by returning true, but the message channel closed before a response was received',
  });
  await heard;
  await browser.tabs.remove(id);
  await pending;
});

test('a script is attached where the extension has access, by another connection too', async () => {
  const other = await createBrowser(profile.extensions[0]);
  const id = await open('https://may.test/');
  const script = await other.attach({ tabId: id });
  script.runtime.onMessage.addListener((message, _sender, sendResponse) => sendResponse(message + 1));
  assert.equal(await browser.tabs.sendMessage(id, 1), 2);
  await script.detach();
  await assert.rejects(browser.tabs.sendMessage(id, 1), NO_RECEIVER);
  await assert.rejects(other.attach({ tabId: id, frameId: 3 }), { message: `No frame with id 3 in tab with id ${id}` });
  await assert.rejects(other.attach({ tabId: 2000000001 }), { message: 'No tab with id: 2000000001.' });
  const foreign = await open('https://elsewhere.test/');
  await assert.rejects(other.attach({ tabId: foreign }), { message: /^Cannot access contents of url "https:\/\/else/ });
  other.close();
});

test('a connection that goes takes its scripts with it', async () => {
  const other = await createBrowser(profile.extensions[0]);
  const id = await open('https://may.test/');
  const script = await other.attach({ tabId: id });
  script.runtime.onMessage.addListener(() => true);
  const heard = next(script.runtime.onMessage);
  const answer = assert.rejects(browser.tabs.sendMessage(id, 1), { message: /message channel closed before/ });
  await heard;
  other.close();
  await answer;
});
