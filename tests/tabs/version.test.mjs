// Profiles of older browsers: which calls give a promise, and which versions there are.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createBrowser } from '../../crates/tabs-api/client/index.mjs';
import { makeProfile } from './profile.mjs';

/** A client of a browser of a version, with an extension of a version of the manifest. */
async function connect(t, browserVersion, manifestVersion) {
  const manifest = { name: 'versions', manifest_version: manifestVersion, permissions: ['tabs'] };
  const profile = await makeProfile({ name: `v${browserVersion}m${manifestVersion}`, browserVersion, extensions: [{ manifest }], keep: false });
  t.after(() => profile.remove());
  const session = await createBrowser(profile.extensions[0]);
  t.after(() => session.close());
  return session;
}

const isPromise = (value) => value instanceof Promise;

for (const [browserVersion, manifestVersion, ofCalls, ofMessages] of [
  [87, 3, false, false],
  [88, 3, true, false],
  [98, 3, true, false],
  [99, 3, true, true],
  [156, 3, true, true],
  [156, 2, false, false],
]) {
  const gives = (does) => (does ? 'a promise' : 'none');
  test(`version ${browserVersion} with manifest ${manifestVersion}: calls give ${gives(ofCalls)}, messages ${gives(ofMessages)}`, async (t) => {
    const { browser, chrome } = await connect(t, browserVersion, manifestVersion);
    const [{ id }] = await new Promise((resolve) => chrome.tabs.query({}, resolve));
    const made = chrome.tabs.create({ active: false });
    assert.equal(isPromise(made), ofCalls);
    await made;
    // Nobody listens in a blank page: the promise, if there is one, says so.
    const sent = chrome.tabs.sendMessage(id, 1);
    assert.equal(isPromise(sent), ofMessages);
    if (ofMessages) await assert.rejects(sent, /Receiving end does not exist/);
    const failed = await new Promise((resolve) => {
      chrome.tabs.sendMessage(id, 1, (...values) => resolve([values, chrome.runtime.lastError?.message]));
    });
    assert.deepEqual(failed, [[], 'Could not establish connection. Receiving end does not exist.']);
    // The namespace of the client's own gives promises in every version.
    await assert.rejects(browser.tabs.sendMessage(id, 1), /Receiving end does not exist/);
    assert.equal((await browser.tabs.query({})).length, 2);
  });
}

for (const browserVersion of [42, 157, 0]) {
  test(`a profile of version ${browserVersion} is refused with the versions that there are`, async () => {
    const refusal = new RegExp(`browser version ${browserVersion} is not known: those from 43 to 156 are`);
    await assert.rejects(makeProfile({ name: 'unknown', browserVersion, keep: false }), refusal);
  });
}
