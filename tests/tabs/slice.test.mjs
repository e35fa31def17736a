// Extension-like code on the JS client: calls, events in order, and errors as the browser words them.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { createBrowser } from '../../crates/tabs-api/client/index.mjs';

const url = process.env.TRIPTYCH_TABS_URL;
const token = process.env.TRIPTYCH_TABS_TOKEN;

let session;
let browser;

before(async () => {
  session = await createBrowser({ url, token });
  browser = session.browser;
});

after(() => session.close());

/** The next event, as the list of its arguments. */
function next(event, matches = () => true) {
  return new Promise((resolve) => {
    event.addListener(function listener(...values) {
      if (!matches(...values)) return;
      event.removeListener(listener);
      resolve(values);
    });
  });
}

test('a created tab is got by its id, and its event tells of it', async () => {
  const created = next(browser.tabs.onCreated);
  const tab = await browser.tabs.create({ url: 'https://example.com/', active: false });
  assert.equal((await created)[0].id, tab.id);
  const got = await browser.tabs.get(tab.id);
  assert.equal(got.id, tab.id);
  assert.equal(got.active, false);
});

test('activating a tab changes the active one and tells the window', async () => {
  const tab = await browser.tabs.create({ active: false });
  const activated = next(browser.tabs.onActivated, (info) => info.tabId === tab.id);
  const updated = await browser.tabs.update(tab.id, { active: true });
  assert.equal(updated.active, true);
  assert.equal((await activated)[0].windowId, tab.windowId);
  const active = await browser.tabs.query({ active: true, windowId: tab.windowId });
  assert.deepEqual(active.map((found) => found.id), [tab.id]);
});

test('a removed tab is gone, and its event says that the window stays', async () => {
  const tab = await browser.tabs.create({ active: false });
  const removed = next(browser.tabs.onRemoved, (id) => id === tab.id);
  await browser.tabs.remove(tab.id);
  assert.equal((await removed)[1].isWindowClosing, false);
  await assert.rejects(browser.tabs.get(tab.id), { message: `No tab with id: ${tab.id}.` });
});

test('a callback gets the result, and runtime.lastError the error', async () => {
  const { chrome } = session;
  const tabs = await new Promise((resolve) => chrome.tabs.query({}, resolve));
  assert.ok(tabs.length > 0);
  const error = await new Promise((resolve) => {
    chrome.tabs.get(2000000001, () => resolve(chrome.runtime.lastError?.message));
  });
  assert.equal(error, 'No tab with id: 2000000001.');
  assert.equal(chrome.runtime.lastError, undefined);
});

test('the constants are those of the namespace', () => {
  assert.equal(browser.tabs.TAB_ID_NONE, -1);
  assert.equal(browser.tabs.TAB_INDEX_NONE, -1);
  assert.equal(browser.tabs.MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND, 2);
});
