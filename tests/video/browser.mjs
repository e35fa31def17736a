// A headless Chromium for tests: pages in it, what they ask for and what they complain of, and pictures of them.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { DevTools } from '../tabs/record/devtools.mjs';

const PATIENCE_MS = 50_000;
const SCREENS = fileURLToPath(new URL('../../target/xtask/screens/', import.meta.url));

/** Events of documents, pictures and media after which a page is another, though nothing in its tree is. */
const EVENTS = [
  'readystatechange', 'load', 'error', 'hashchange', 'popstate', 'transitionend', 'animationend', 'focusin', 'input', 'change', 'toggle', 'close', 'cuechange', 'loadstart',
  'loadedmetadata', 'loadeddata', 'canplay', 'play', 'playing', 'pause', 'seeked', 'timeupdate', 'ended',
];

/** What `look` comes to in a page, once that is true. */
function nextTrue(look, never, patienceMs, events) {
  return new Promise((resolve, reject) => {
    const [watched, over] = [new Set(), new AbortController()];
    const end = (settle, value) => {
      over.abort();
      observer.disconnect();
      clearTimeout(limit);
      settle(value);
    };
    const check = () => {
      watch(document);
      for (const { contentDocument } of document.querySelectorAll('iframe')) if (contentDocument) watch(contentDocument);
      try {
        const value = look();
        if (value) end(resolve, value);
      } catch (error) {
        end(reject, error);
      }
    };
    const observer = new MutationObserver(check);
    const watch = (page) => {
      if (watched.has(page)) return;
      watched.add(page);
      observer.observe(page, { subtree: true, childList: true, attributes: true, characterData: true });
      for (const target of [page, page.defaultView]) {
        for (const name of events) target?.addEventListener(name, check, { capture: true, signal: over.signal });
      }
    };
    const limit = setTimeout(() => end(reject, new Error(never)), patienceMs);
    check();
  });
}

/** A page of its own. */
class Page {
  #devtools;
  #session;
  /** Addresses that were asked for, complaints of the browser (what a page is not let do among them), dialogs that were opened. */
  asked = [];
  complaints = [];
  dialogs = [];

  constructor(devtools, session) {
    [this.#devtools, this.#session] = [devtools, session];
  }

  static async open(devtools) {
    const { targetId } = await devtools.send('Target.createTarget', { url: 'about:blank' });
    const session = await devtools.attach(targetId);
    const page = new Page(devtools, session);
    devtools.listen((method, params, from) => from === session && page.#heard(method, params));
    for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await page.send(`${domain}.enable`);
    await page.send('Emulation.setFocusEmulationEnabled', { enabled: true });
    return page;
  }

  #heard(method, params) {
    // The pictures of the browser's own controls are data, which nobody is asked for.
    if (method === 'Network.requestWillBeSent' && !params.request.url.startsWith('data:')) this.asked.push(params.request.url);
    if (method === 'Log.entryAdded' && params.entry.source !== 'network') this.complaints.push(params.entry.text);
    if (method === 'Runtime.exceptionThrown') {
      this.complaints.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    }
    if (method === 'Page.javascriptDialogOpening') {
      this.dialogs.push(params.message);
      this.send('Page.handleJavaScriptDialog', { accept: false });
    }
  }

  send(method, params) {
    return this.#devtools.send(method, params, this.#session);
  }

  evaluate(expression) {
    return this.#devtools.evaluate(this.#session, expression);
  }

  /** What a function of the page comes to; its arguments are JSON. */
  run(work, ...args) {
    return this.evaluate(`(${work})(...${JSON.stringify(args)})`);
  }

  /** Goes to an address that is another document. */
  async go(url) {
    await this.send('Page.navigate', { url });
    const { origin, pathname, search } = new URL(url);
    await this.until(`document.readyState === 'complete' && location.origin + location.pathname + location.search === ${JSON.stringify(origin + pathname + search)}`);
  }

  /** What an expression is, once it is true: it is looked at whenever the page, or one in a frame of it, changes. */
  async until(expression) {
    const begun = Date.now();
    for (;;) {
      try {
        return await this.evaluate(`(${nextTrue})(() => (${expression}), ${JSON.stringify(`never: ${expression}`)}, ${PATIENCE_MS}, ${JSON.stringify(EVENTS)})`);
      } catch (error) {
        // The document went away while it was looked at.
        if (!/context|navigated|Promise was collected/i.test(error.message) || Date.now() - begun > PATIENCE_MS) {
          throw new Error(`${error.message}\n${await this.evaluate('document.body?.innerText').catch(() => '')}`);
        }
      }
    }
  }

  /** A key, as a user presses it. */
  async press(key, code = key) {
    const codes = { Tab: 9, Enter: 13, Escape: 27 };
    const all = { key, code, windowsVirtualKeyCode: codes[key], ...(key === 'Enter' ? { text: '\r' } : {}) };
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', ...all });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...all });
  }

  /** Size and colours of what shows the page. */
  async look({ width = 1_000, height = 700, scheme = 'light' } = {}) {
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    const features = [{ name: 'prefers-color-scheme', value: scheme }, { name: 'prefers-reduced-motion', value: 'reduce' }];
    await this.send('Emulation.setEmulatedMedia', { features });
  }

  /** Writes a picture of the page under `target/`. */
  async picture(name) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'webp', quality: 60 });
    const file = join(SCREENS, `${name}.webp`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, Buffer.from(data, 'base64'));
  }
}

/** A running browser. */
export class Browser {
  #folder = mkdtempSync(join(tmpdir(), 'browser-'));
  #child;
  #devtools;

  static async start() {
    const browser = new Browser();
    const folder = browser.#folder;
    const log = openSync(join(folder, 'chromium.log'), 'w');
    const flags = [
      '--headless=new', '--no-sandbox', '--no-first-run', '--no-default-browser-check', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--no-proxy-server', '--autoplay-policy=no-user-gesture-required', '--lang=en-US', '--remote-debugging-pipe',
      `--user-data-dir=${join(folder, 'profile')}`, 'about:blank',
    ];
    const program = process.env.CHROMIUM ?? 'chromium';
    browser.#child = spawn(program, flags, { stdio: ['ignore', log, log, 'pipe', 'pipe'], env: { ...process.env, HOME: folder } });
    const failed = new Promise((_, reject) => {
      browser.#child.on('error', (error) => reject(new Error(`${program} could not be started: ${error.message}`)));
    });
    browser.#devtools = new DevTools(browser.#child.stdio[3], browser.#child.stdio[4]);
    await Promise.race([browser.#devtools.send('Browser.getVersion'), failed]);
    return browser;
  }

  page() {
    return Page.open(this.#devtools);
  }

  /** Ends the browser and removes its profile. */
  async stop() {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    await this.#devtools.send('Browser.close').catch(() => {});
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 300 });
  }
}
