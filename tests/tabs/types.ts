// Compiled, never run: the types say what extension code may do.

import { createBrowser, type Tab } from '../../crates/tabs-api/client/index.mjs';

async function use(): Promise<Tab[]> {
  const { browser, close } = await createBrowser({
    url: 'http://127.0.0.1:7803',
    token: 'demo-token',
    context: { type: 'popup', windowId: 1 },
  });
  browser.tabs.onUpdated.addListener((id: number, change, tab) => console.log(id + 1, change.status, tab.windowId));
  const tab: Tab = await browser.tabs.create({ url: 'https://example.com/' });
  await browser.tabs.update({ pinned: true });
  await browser.tabs.setZoom(1.5);
  await browser.scripting.executeScript({ target: { tabId: tab.id! }, func: (a: number) => a + 1, args: [1] });
  await browser.tabs.query({ windowType: 'custom-tab', splitViewId: tab.splitViewId });
  const moved = await browser.tabs.move([tab.id!], { index: 0 });
  const [first]: Tab[] = Array.isArray(moved) ? moved : [moved];
  // @ts-expect-error: one tab alone is given by itself
  moved.length;
  console.log(first.index);
  await browser.tabs.captureVisibleTab({ rect: { x: 0, y: 0, width: 8, height: 6 }, scale: 2 });
  // @ts-expect-error: events of tabs take no filter
  browser.tabs.onCreated.addListener(() => undefined, { windowTypes: ['popup'] });
  // @ts-expect-error: a script runs somewhere
  await browser.scripting.executeScript({ func: () => 1 });
  // @ts-expect-error: an index is a number
  await browser.tabs.move(tab.id!, { index: 'a' });
  // @ts-expect-error: there is no such operation
  browser.tabs.fly();
  close();
  return browser.tabs.query({ status: 'complete' });
}

void use;
