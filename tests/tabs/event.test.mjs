// Listeners of events as the browser takes them: which filters an event has, and what a listener is asked for.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { createBrowser } from '../../crates/tabs-api/client/index.mjs';
import { makeProfile, next } from './profile.mjs';

let profile;
let session;
let browser;

before(async () => {
  const manifest = { name: 'listener', manifest_version: 3, permissions: ['tabs', 'sessions'] };
  profile = await makeProfile({ extensions: [{ manifest }], keep: false });
  session = await createBrowser(profile.extensions[0]);
  browser = session.browser;
});

after(async () => {
  session.close();
  await profile.remove();
});

const refused = (message) => ({ name: 'TypeError', message });

test('an event without filters refuses one, whatever it is', () => {
  for (const filter of [undefined, null, {}, { urls: ['http://a.test/*'] }]) {
    for (const event of [browser.tabs.onUpdated, browser.windows.onBoundsChanged, browser.sessions.onChanged]) {
      const add = () => event.addListener(() => undefined, filter);
      assert.throws(add, refused('This event does not support filters'));
    }
  }
});

test('a filter of an event of windows is an object', () => {
  const add = (filter) => () => browser.windows.onCreated.addListener(() => undefined, filter);
  for (const filter of [undefined, null, 3, 'popup']) assert.throws(add(filter), refused('Invalid invocation'));
  assert.throws(add([]), refused('could not convert filter.'));
});

test('what is no function is passed over with whatever filter, and asked for in vain', () => {
  const event = browser.tabs.onCreated;
  event.addListener(3, {});
  assert.equal(event.hasListeners(), false);
  assert.throws(() => event.hasListener(), refused('Insufficient number of arguments.'));
  for (const [asked, shown] of [[null, 'null'], [undefined, 'undefined'], ['abc', 'abc'], [3, ''], [{}, '']]) {
    const message = `Error processing argument at index 0, conversion failure from ${shown}`;
    assert.throws(() => event.hasListener(asked), refused(message));
  }
});

test('a listener hears of windows of the types that it names, and of all where it names none', async () => {
  const heard = [];
  const listen = (name, ...filter) => {
    for (const event of ['onCreated', 'onRemoved', 'onFocusChanged']) {
      browser.windows[event].addListener(() => heard.push(`${name} ${event}`), ...filter);
    }
  };
  listen('popups', { windowTypes: ['popup'] });
  listen('normal', { windowTypes: ['normal'] });
  listen('none', { windowTypes: ['zzz'] });
  listen('all', { windowTypes: [] });
  const removed = next(browser.windows.onRemoved);
  const popup = await browser.windows.create({ type: 'popup', url: 'about:blank' });
  await browser.windows.remove(popup.id);
  await removed;
  // The focus goes on to a normal window behind that.
  await browser.windows.getAll();
  const of = (name) => heard.filter((entry) => entry.startsWith(`${name} `)).map((entry) => entry.split(' ')[1]);
  assert.deepEqual(of('popups'), ['onCreated', 'onFocusChanged', 'onRemoved']);
  assert.deepEqual(of('normal'), ['onFocusChanged']);
  assert.deepEqual(of('none'), []);
  assert.deepEqual(of('all'), ['onCreated', 'onFocusChanged', 'onRemoved', 'onFocusChanged']);
});

test('the place of a window and what was closed are told', async () => {
  const placed = next(browser.windows.onBoundsChanged);
  const { id } = await browser.windows.getCurrent();
  await browser.windows.update(id, { left: 50, top: 60, width: 700, height: 500 });
  assert.equal((await placed)[0].width, 700);
  const tab = await browser.tabs.create({ url: 'http://a.test/a.html' });
  await next(browser.tabs.onUpdated, (of, change) => of === tab.id && change.status === 'complete');
  const changed = next(browser.sessions.onChanged);
  await browser.tabs.remove(tab.id);
  assert.deepEqual(await changed, []);
  assert.equal(browser.sessions.MAX_SESSION_RESULTS, 25);
});
