// A real Chromium with a profile of its own, driven by DevTools over pipes.

import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { DevTools } from './devtools.mjs';
import { HARNESS, settings, writeExtension } from './manifests.mjs';

/** How long an extension may take to run. */
const PATIENCE_MS = 30_000;

/** What would act by itself in a recording, or need a person. */
const OFF = [
  'DisableLoadExtensionCommandLineSwitch', 'HttpsFirstBalancedModeAutoEnable', 'HttpsUpgrades', 'InterestFeedContentSuggestions',
  'LocalNetworkAccessChecks', 'MediaRouter', 'OptimizationHints', 'Prerender2', 'TabHoverCards',
];

function flags({ folder, pages }) {
  return [
    '--no-sandbox', '--no-first-run', '--no-default-browser-check', '--no-pings', '--no-proxy-server', '--noerrdialogs',
    '--disable-background-networking', '--disable-breakpad', '--disable-client-side-phishing-detection', '--disable-component-update',
    '--disable-default-apps', '--disable-domain-reliability', '--disable-gpu', '--disable-quic', '--disable-search-engine-choice-screen',
    '--disable-sync', '--hide-crash-restore-bubble', '--metrics-recording-only', '--password-store=basic', '--use-mock-keychain',
    '--autoplay-policy=no-user-gesture-required', '--lang=en-US', '--accept-lang=en-US',
    `--disable-features=${OFF.join(',')}`,
    `--host-resolver-rules=MAP *.test 127.0.0.1:${pages}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
    '--remote-debugging-pipe', '--enable-unsafe-extension-debugging',
    '--window-size=1000,700', '--window-position=10,10',
    `--user-data-dir=${join(folder, 'profile')}`,
    'about:blank',
  ];
}

/** A running browser. */
export class Chromium {
  #folder = mkdtempSync(join(tmpdir(), 'tabs-record-'));
  #child;
  #extensions = new Map();

  /** Starts a browser on a display, with the pages on a port. */
  static async start({ display, pages }) {
    const browser = new Chromium();
    const log = openSync(join(browser.#folder, 'chromium.log'), 'w');
    const environment = { ...process.env, DISPLAY: display, HOME: browser.#folder, LANG: 'en_US.UTF-8', LANGUAGE: 'en_US' };
    const program = process.env.CHROMIUM ?? 'chromium';
    const stdio = ['ignore', log, log, 'pipe', 'pipe'];
    browser.#child = spawn(program, flags({ folder: browser.#folder, pages }), { stdio, env: environment });
    const failed = new Promise((_, reject) => {
      browser.#child.on('error', (error) => reject(new Error(`${program} could not be started: ${error.message}`)));
    });
    browser.devtools = new DevTools(browser.#child.stdio[3], browser.#child.stdio[4]);
    await Promise.race([browser.devtools.send('Browser.getVersion'), failed]);
    const harness = await browser.#load('harness', HARNESS);
    // What closes the windows of a scenario has to see them all.
    browser.harness = await browser.#set('harness', harness, { incognitoAccess: true });
    return browser;
  }

  /** The worker of the extension with a manifest variant, installed once. */
  async extension(variant) {
    const known = this.#extensions.get(variant);
    if (known) return known;
    const folder = join(this.#folder, 'extensions', variant);
    writeExtension(variant, folder);
    let worker = await this.#load(variant, folder);
    const set = settings(variant);
    if (set) worker = await this.#set(variant, worker, set);
    this.#extensions.set(variant, worker);
    return worker;
  }

  /** Takes the extension of a variant out, if it is there. */
  async uninstall(variant) {
    const known = this.#extensions.get(variant);
    if (!known) return null;
    this.#extensions.delete(variant);
    await this.devtools.send('Extensions.uninstall', { id: known.id });
    return null;
  }

  async #load(name, path) {
    const { id } = await this.devtools.send('Extensions.loadUnpacked', { path });
    return this.#worker(name, id);
  }

  /** The worker of an extension, other than one that is about to end. */
  async #worker(name, id, old = undefined) {
    const begun = Date.now();
    while (Date.now() - begun < PATIENCE_MS) {
      const { targetInfos } = await this.devtools.send('Target.getTargets');
      const isOwn = ({ type, url, targetId }) => type === 'service_worker' && url.startsWith(`chrome-extension://${id}/`) && targetId !== old;
      const own = targetInfos.find(isOwn);
      if (own) return this.#ready({ id, target: own.targetId, session: await this.devtools.attach(own.targetId) });
      await sleep(50);
    }
    throw new Error(`the extension ${name} does not run`);
  }

  /** The same worker, once its script has run: a target is there before that. */
  async #ready(worker) {
    const begun = Date.now();
    while (Date.now() - begun < PATIENCE_MS) {
      const isReady = await this.devtools.evaluate(worker.session, "'harness' in globalThis || 'recorder' in globalThis");
      if (isReady) return worker;
      await sleep(20);
    }
    throw new Error(`the script of ${worker.id} does not run`);
  }

  /** Sets what an extension may, as the user does on the page of extensions; it starts again for that. */
  async #set(name, { id, target }, settings) {
    const { targetId } = await this.devtools.send('Target.createTarget', { url: 'chrome://extensions/' });
    const session = await this.devtools.attach(targetId);
    // Outside of the developer mode an unpacked extension is off once it starts again.
    await this.#configure(session, 'updateProfileConfiguration', { inDeveloperMode: true });
    await this.#configure(session, 'updateExtensionConfiguration', { extensionId: id, ...settings });
    const worker = await this.#worker(name, id, target);
    await this.devtools.send('Target.closeTarget', { targetId });
    return worker;
  }

  #configure(session, change, how) {
    return this.devtools.evaluate(session, `new Promise((done) => chrome.developerPrivate.${change}(${JSON.stringify(how)}, done))`);
  }

  /** Calls a function of a worker. */
  ask({ session }, name, ...args) {
    return this.devtools.evaluate(session, `${name}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`);
  }

  /** Runs code in the page of a tab, as a user's gesture; how many pages that were. */
  async act(tabId, code) {
    const target = await this.ask(this.harness, 'harness.target', tabId);
    if (!target) return 0;
    // A page that closed itself has no session any more.
    await this.#leave(await this.#run(target, code)).catch(() => {});
    return 1;
  }

  /** The same in every page of an address; fails where one closes itself, and its session with it. */
  async gesture(url, code) {
    const { targetInfos } = await this.devtools.send('Target.getTargets');
    const pages = targetInfos.filter((target) => target.type === 'page' && target.url === url);
    for (const { targetId } of pages) await this.#leave(await this.#run(targetId, code));
    return pages.length;
  }

  /** The session in which code was run as a user's gesture. */
  async #run(target, code) {
    const session = await this.devtools.attach(target);
    await this.devtools.send('Runtime.evaluate', { expression: code ?? '1', userGesture: true }, session);
    return session;
  }

  #leave(session) {
    return this.devtools.send('Target.detachFromTarget', { sessionId: session });
  }

  /** Ends the browser and removes its profile. */
  async stop() {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.exitCode === null) {
      this.#child.kill();
      await Promise.race([ended, sleep(6_000)]);
      this.#child.kill('SIGKILL');
    }
    await sleep(300);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 300 });
  }
}
