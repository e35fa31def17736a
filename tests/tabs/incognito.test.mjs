// An extension that is split by its manifest: its part in incognito windows sees these alone, its other part all the others.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createBrowser } from '../../crates/tabs-api/client/index.mjs';
import { control, makeProfile, next } from './profile.mjs';

test('each part of a split extension has its own windows, events and answers', async (t) => {
  const manifest = { name: 'split', manifest_version: 3, permissions: ['tabs'], incognito: 'split' };
  const profile = await makeProfile({ name: 'split', extensions: [{ manifest, allowIncognito: true }] });
  t.after(() => profile.remove());
  const [extension] = profile.extensions;
  const page = `chrome-extension://${extension.id}/page.html`;
  const { result } = await control('POST', '?profile=split', { type: 'openWindow', kind: 'normal', incognito: true, url: page });
  const { windows } = await control('GET', '/windows?profile=split');
  const [own] = windows.find(({ id }) => id === result.windowId).tabs;

  const main = await createBrowser(extension);
  t.after(() => main.close());
  const inside = await createBrowser({ ...extension, context: { tabId: own.id } });
  t.after(() => inside.close());
  const ids = async ({ browser }) => (await browser.windows.getAll({})).map(({ id }) => id);
  assert.deepEqual(await ids(inside), [result.windowId]);
  assert.equal((await ids(main)).includes(result.windowId), false);
  assert.equal((await inside.browser.tabs.getCurrent()).id, own.id);
  assert.equal((await inside.browser.windows.getCurrent()).id, result.windowId);
  await assert.rejects(main.browser.tabs.get(own.id), { message: `No tab with id: ${own.id}.` });
  await assert.rejects(main.browser.tabs.sendMessage(own.id, 1), /Receiving end does not exist/);

  const heard = { main: [], inside: [] };
  main.browser.tabs.onCreated.addListener(({ id }) => heard.main.push(id));
  inside.browser.tabs.onCreated.addListener(({ id }) => heard.inside.push(id));
  const told = [next(main.browser.tabs.onCreated), next(inside.browser.tabs.onCreated)];
  const hidden = await inside.browser.tabs.create({ url: 'about:blank' });
  const shown = await main.browser.tabs.create({ url: 'about:blank' });
  assert.deepEqual([hidden.incognito, shown.incognito], [true, false]);
  await Promise.all(told);
  // What each of them did last has been answered behind all that it was told before.
  await Promise.all([main.browser.tabs.query({}), inside.browser.tabs.query({})]);
  assert.deepEqual(heard, { main: [shown.id], inside: [hidden.id] });
});
