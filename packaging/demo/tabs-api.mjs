// Extension-like code opens, activates and closes a tab, and sees the browser's events in order.

import { createBrowser } from '../../crates/tabs-api/client/index.mjs';

const { browser, close } = await createBrowser({
  url: process.env.TRIPTYCH_TABS_URL,
  token: process.env.TRIPTYCH_TABS_TOKEN,
});
const seen = [];
for (const name of ['onCreated', 'onActivated', 'onRemoved']) {
  browser.tabs[name].addListener(() => seen.push(name));
}
const gone = new Promise((resolve) => browser.tabs.onRemoved.addListener(resolve));
const tab = await browser.tabs.create({ url: 'https://example.com/', active: false });
await browser.tabs.update(tab.id, { active: true });
const [active] = await browser.tabs.query({ active: true, windowId: tab.windowId });
console.log(`tab ${tab.id} was created and is ${active.id === tab.id ? 'active' : 'NOT active'}`);
await browser.tabs.remove(tab.id);
await gone;
console.log(`events in order: ${seen.slice(0, 2).join(', ')}, ... ${seen.includes('onRemoved') ? 'onRemoved' : ''}`);
await close();
if (active.id !== tab.id || seen[0] !== 'onCreated' || !seen.includes('onActivated')) process.exit(1);
