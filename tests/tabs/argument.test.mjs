// Wrong arguments throw at once, with the browser's sentences, before anything is sent.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { createBrowser } from '../../crates/tabs-api/client/index.mjs';

let session;

before(async () => {
  session = await createBrowser({ url: process.env.TRIPTYCH_TABS_URL, token: process.env.TRIPTYCH_TABS_TOKEN });
});

after(() => session.close());

const rows = [
  ['get', [], 'No matching signature.'],
  ['get', ['1'], 'No matching signature.'],
  ['get', [1.5], 'No matching signature.'],
  ['get', [1, null, null], 'No matching signature.'],
  ['get', [-1], "Error at parameter 'tabId': Value must be at least 0."],
  ['create', [{ foo: 1 }], "Error at parameter 'createProperties': Unexpected property: 'foo'."],
  ['move', [1, {}], "Error at parameter 'moveProperties': Missing required property 'index'."],
  [
    'create',
    [{ index: 'a' }],
    "Error at parameter 'createProperties': Error at property 'index': Invalid type: expected integer, found string.",
  ],
  [
    'query',
    [{ status: 'done' }],
    "Error at parameter 'queryInfo': Error at property 'status': Value must be one of complete, loading, unloaded.",
  ],
  ['setZoom', [NaN], "Error at parameter 'zoomFactor': Value must not be NaN or Infinity."],
  [
    'captureVisibleTab',
    [{ rect: { x: 0, y: 0 } }],
    "Error at parameter 'options': Error at property 'rect': Missing required property 'height'.",
  ],
  [
    'captureVisibleTab',
    [{ rect: 3 }],
    "Error at parameter 'options': Error at property 'rect': Invalid type: expected extensionTypes.Rect, found integer.",
  ],
  [
    'captureVisibleTab',
    [{ scale: -0.5 }],
    "Error at parameter 'options': Error at property 'scale': Value must be at least 0.",
  ],
  ['group', [{ tabIds: [] }], "Error at parameter 'options': Error at property 'tabIds': Value did not match any choice."],
];

for (const [method, given, reason] of rows) {
  test(`tabs.${method}(${given.map((value) => JSON.stringify(value)).join(', ')}) throws`, () => {
    for (const style of [[], [() => {}]]) {
      const call = () => session.chrome.tabs[method](...given, ...style);
      assert.throws(call, (error) => error instanceof TypeError && error.message.endsWith(`: ${reason}`));
    }
  });
}

test('an argument that is left out in front is found by its type', async () => {
  // A zoom belongs to a host, so the page has to be there first.
  const complete = new Promise((resolve) => {
    session.browser.tabs.onUpdated.addListener((id, change) => change.status === 'complete' && resolve(id));
  });
  const tab = await session.browser.tabs.create({ url: 'https://example.com/' });
  assert.equal(await complete, tab.id);
  await session.browser.tabs.setZoom(1.5);
  assert.equal(await session.browser.tabs.getZoom(tab.id), 1.5);
  const updated = await session.browser.tabs.update({ pinned: true });
  assert.equal(updated.pinned, true);
});
