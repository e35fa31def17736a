// The harness: an extension beside the recorded ones that brings the browser into the start state and knows the DevTools target of each tab.

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** How long the start state may take. */
const PATIENCE_MS = 4_000;

/** Hosts that a scenario zoomed: zoom stays with a host for as long as the browser runs. */
let zoomed = new Set();

chrome.tabs.onZoomChange.addListener(async ({ tabId, newZoomFactor }) => {
  if (newZoomFactor === 1) return;
  const { url } = await chrome.tabs.get(tabId).catch(() => ({}));
  if (url?.startsWith('http')) zoomed.add(new URL(url).origin);
});

async function until(isTrue) {
  const begun = Date.now();
  while (!(await isTrue()) && Date.now() - begun < PATIENCE_MS) await sleep(30);
}

globalThis.harness = {
  /** Takes every zoom back. */
  async unzoom() {
    const hosts = [...zoomed];
    for (const host of hosts) {
      const { id } = await chrome.tabs.create({ url: `${host}/empty.html`, active: false });
      await until(async () => (await chrome.tabs.get(id)).status === 'complete');
      await chrome.tabs.setZoom(id, 0);
      await chrome.tabs.remove(id);
    }
    zoomed = new Set();
  },

  /** One focused window with one blank tab; every other window is closed. */
  async reset() {
    if (zoomed.size > 0) await harness.unzoom();
    const { id, tabs } = await chrome.windows.create({ url: 'about:blank', focused: true });
    for (const window of await chrome.windows.getAll()) {
      if (window.id !== id) await chrome.windows.remove(window.id).catch(() => {});
    }
    await until(async () => (await chrome.windows.getAll()).length === 1);
    await until(async () => {
      const window = await chrome.windows.get(id, { populate: true });
      if (!window.focused) await chrome.windows.update(id, { focused: true });
      return window.focused && window.tabs.every((tab) => tab.status === 'complete');
    });
    const tab = tabs[0].id;
    // Closed tabs and windows, and the icons of pages that were there, outlive a scenario too.
    await chrome.browsingData.removeHistory({});
    // So does the zoom of about:blank.
    if ((await chrome.tabs.getZoom(tab)) !== 1) await chrome.tabs.setZoom(tab, 0);
    return { W1: id, T1: tab };
  },

  /** The DevTools target of a tab. */
  async target(tabId) {
    const targets = await chrome.debugger.getTargets();
    return targets.find((target) => target.tabId === tabId)?.id ?? null;
  },
};
