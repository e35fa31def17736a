// Real pages in simulated tabs: titles, icons, languages, frames, redirects and failures of sites that may be fetched.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { createBrowser } from '../../crates/tabs-api/client/index.mjs';
import { startService, startSite } from './own_server.mjs';
import { next } from './profile.mjs';

const SEED = {
  extensions: [{ token: 'fetching', manifest: { name: 'Fetching', permissions: ['tabs'], host_permissions: ['<all_urls>'] } }],
  pages: { 'http://site.test/described': { title: 'From the seed' } },
};
const asked = [];
let site;
let service;
let session;
let browser;
let base;

function answer(request, response) {
  asked.push(request);
  const html = (text, headers = {}) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers });
    response.end(text);
  };
  const go = (location) => {
    response.writeHead(302, { location });
    response.end();
  };
  const { pathname } = new URL(request.url, 'http://x');
  switch (pathname) {
    case '/page':
      return html(`<!doctype html><html lang="de-AT"><title> Eine
        Seite &amp; mehr</title><link rel="icon" href="/icon.png"><iframe src="inner.html"></iframe>`);
    case '/french':
      return html(`<title>Bonjour</title><p>Ceci est une page écrite en français, sans que rien dans son en-tête ne le
        déclare, afin que la langue soit reconnue par le texte lui-même.`);
    case '/header-language':
      return html('<title>x</title>', { 'content-language': 'pt-BR, en' });
    case '/redirect':
      return go('/page#part');
    case '/loop':
      return go('/loop');
    case '/to-private':
      return go(`http://127.0.0.1:${site.port}/page`);
    case '/to-metadata':
      return go('http://169.254.169.254/latest/meta-data/');
    case '/to-file':
      return go('file:///etc/passwd');
    case '/nothing':
      response.writeHead(204);
      return response.end();
    case '/download':
      return html('<title>no</title>', { 'content-disposition': 'attachment; filename=a.html' });
    case '/broken':
      return request.socket.destroy();
    case '/hang':
      return undefined;
    case '/long':
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write('<title>Long</title>');
      return response.end('x'.repeat(8 * 1024 * 1024));
    case '/refresh':
      return html('<title>Before</title><meta http-equiv="refresh" content="0; url=/page">');
    default:
      response.writeHead(404, { 'content-type': 'text/html' });
      return response.end('<title>Not here</title>');
  }
}

before(async () => {
  site = await startSite(answer);
  const flags = ['--fetch', `site.test:${site.port}=127.0.0.1`, '--fetch', `*.open.test:${site.port}`];
  service = await startService(SEED, [...flags, '--fetch', 'localhost:*', '--fetch', 'nowhere.invalid']);
  session = await createBrowser({ url: service.url, token: 'fetching' });
  browser = session.browser;
  base = `http://site.test:${site.port}`;
});

after(async () => {
  session?.close();
  await service?.stop();
  await site?.stop();
});

/** Opens a page and gives the tab once it is complete. */
async function load(url) {
  const { id } = await browser.tabs.create({ url, active: true });
  await next(browser.tabs.onUpdated, (other, change) => other === id && change.status === 'complete');
  return browser.tabs.get(id);
}

test('a page has the title, icon and language that its HTML says', async () => {
  const icon = next(browser.tabs.onUpdated, (_id, change) => change.favIconUrl);
  const tab = await load(`${base}/page`);
  assert.equal(tab.title, 'Eine Seite & mehr');
  assert.equal(tab.url, `${base}/page`);
  assert.equal(await browser.tabs.detectLanguage(tab.id), 'de');
  assert.equal((await icon)[1].favIconUrl, `${base}/icon.png`);
});

test('the language is the header\'s, or that of the text, where the page declares none', async () => {
  assert.equal(await browser.tabs.detectLanguage((await load(`${base}/header-language`)).id), 'pt');
  assert.equal(await browser.tabs.detectLanguage((await load(`${base}/french`)).id), 'fr');
});

test('a redirect leads to its target, and a refresh goes on', async () => {
  assert.equal((await load(`${base}/redirect`)).url, `${base}/page#part`);
  const gone = next(browser.tabs.onUpdated, (_id, change) => change.url === `${base}/page`);
  await browser.tabs.create({ url: `${base}/refresh` });
  await gone;
});

test('a page of the seed counts before the real one, and of hosts that are not named nothing is asked', async () => {
  const before = asked.length;
  assert.equal((await load('http://site.test/described')).title, 'From the seed');
  assert.equal((await load(`http://other.test:${site.port}/page`)).title, 'other.test');
  assert.equal((await load('http://site.test/page')).title, 'site.test');
  assert.equal(asked.length, before);
});

test('private addresses are not reached, however they are come to', async () => {
  for (const url of [
    `http://localhost:${site.port}/page`,
    `http://127.0.0.1:${site.port}/page`,
    `http://0x7f.1:${site.port}/page`,
    `http://[::ffff:127.0.0.1]:${site.port}/page`,
    'http://169.254.169.254/latest/meta-data/',
  ]) {
    const before = asked.length;
    const tab = await load(url);
    assert.notEqual(tab.title, 'Eine Seite & mehr', url);
    assert.equal(asked.length, before, url);
  }
  for (const path of ['/to-private', '/to-metadata', '/to-file']) {
    const before = asked.length;
    const tab = await load(`${base}${path}`);
    assert.notEqual(tab.title, 'Eine Seite & mehr', path);
    assert.equal(asked.length, before + 1, path);
  }
});

test('what fails shows the host, as the browser\'s own page does', async () => {
  for (const url of [`${base}/broken`, `${base}/loop`, 'http://nowhere.invalid/']) {
    const tab = await load(url);
    assert.equal(tab.title, new URL(url).hostname, url);
    assert.equal(tab.url, url);
    assert.equal(tab.status, 'complete');
  }
  assert.equal((await load(`${base}/missing`)).title, 'Not here');
  assert.equal((await load(`${base}/long`)).title, 'Long');
});

test('an answer without a page leaves the tab where it is', async () => {
  const tab = await load(`${base}/page`);
  for (const path of ['/nothing', '/download']) {
    await browser.tabs.update(tab.id, { url: base + path });
    let shown;
    do shown = await browser.tabs.get(tab.id);
    while (shown.status === 'loading');
    assert.equal(shown.url, `${base}/page`);
    assert.equal(shown.pendingUrl, undefined);
  }
});

test('another navigation ends the fetch that is under way', async () => {
  const tab = await browser.tabs.create({ url: `${base}/hang` });
  while (!asked.some(({ url }) => url === '/hang')) await new Promise((resolve) => setImmediate(resolve));
  const { socket } = asked.find(({ url }) => url === '/hang');
  const closed = new Promise((resolve) => socket.on('close', resolve));
  const complete = next(browser.tabs.onUpdated, (id, change) => id === tab.id && change.status === 'complete');
  await browser.tabs.update(tab.id, { url: `${base}/page` });
  await complete;
  await closed;
  assert.equal((await browser.tabs.get(tab.id)).title, 'Eine Seite & mehr');
});
