// The page at /_ui/ in a real browser: what it answers, what it lets be done, and that nothing that is stored runs in it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import { ALICE, ALICE_CHANNEL, BOB, URL_OF_SERVICE, call, captions, control, png, thread, upload, video } from './api.mjs';
import { Browser } from './browser.mjs';
import { film } from './webm.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const UI = `${URL_OF_SERVICE}/_ui/`;
const HOSTILE = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>" onclick="window.hit=1`;
/** The same for texts that hold no angle brackets. */
const QUOTED = `"'onmouseover=window.hit=1 x=&lt;script&gt;`;

const made = {};
let browser;
let page;

before(async () => {
  browser = await Browser.start();
  page = await browser.page();
  await page.look();
  await page.go(UI);
  const bytes = await film(page, { seconds: 4 });
  made.film = bytes;
  made.video = await video(`Bread ${QUOTED}`, bytes, { description: QUOTED });
  made.hidden = await video('Kept to myself', bytes, { status: { privacyStatus: 'private' } });
  await captions(made.video, `WEBVTT\n\n00:00.000 --> 00:04.000\n${HOSTILE}\n`, { name: HOSTILE });
  made.thread = await thread(made.video, HOSTILE);
  made.plain = await thread(made.video, 'A word about bread');
  await call('POST', '/youtube/v3/comments?part=snippet', { json: { snippet: { parentId: made.plain, textOriginal: 'Thank you' } } });
  const { id } = await call('POST', '/youtube/v3/playlists?part=snippet,status', { json: { snippet: { title: `List ${QUOTED}` }, status: { privacyStatus: 'public' } } });
  made.playlist = id;
  await call('POST', '/youtube/v3/playlistItems?part=snippet', { json: { snippet: { playlistId: id, resourceId: { kind: 'youtube#video', videoId: made.video } } } });
  const banner = await call('POST', '/upload/youtube/v3/channelBanners/insert?uploadType=media', { body: png(2_048, 1_152), type: 'image/png' });
  const brandingSettings = { channel: { title: 'Alice', description: QUOTED, showBrowseView: true }, image: { bannerExternalUrl: banner.url } };
  await call('PUT', '/youtube/v3/channels?part=brandingSettings', { json: { id: ALICE_CHANNEL, brandingSettings } });
  const section = { snippet: { type: 'multiplePlaylists', title: `Section ${QUOTED}` }, contentDetails: { playlists: [id] } };
  await call('POST', '/youtube/v3/channelSections?part=snippet,contentDetails', { json: section });
});
after(() => browser?.stop());

/** Shows a view of the page, and waits until all of it is there. */
async function view(path) {
  await page.run((path) => { location.hash = '#/start'; location.hash = `#/${path}`; }, path);
  await page.until(`document.querySelector('main').dataset.address === location.hash && !document.querySelector('[aria-busy]')`);
}

const text = (selector = 'main') => page.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`);
const click = (label, within = 'document') => page.run((label, within) => {
  const all = [...(within === 'document' ? document : document.querySelector(within)).querySelectorAll('button')];
  const found = all.find((button) => button.textContent === label || button.getAttribute('aria-label') === label);
  if (!found) throw new Error(`no button ${label} among ${all.map((each) => each.textContent)}`);
  found.focus();
  found.click();
}, label, within);

test('the start says that the service is there, what is in it and how to talk to it, and shows secrets only when asked to', async () => {
  await page.go(UI);
  await page.until(`document.querySelector('#state').textContent === 'ready' && document.querySelectorAll('.recipe').length > 2 && !document.querySelector('[aria-busy]')`);
  const shown = await text();
  assert.match(shown, /Public videos\s+[1-9]/);
  assert.ok(shown.includes(URL_OF_SERVICE) && shown.includes('API key of demo'), shown);
  const markup = () => page.evaluate('document.documentElement.outerHTML');
  assert.ok(!(await markup()).includes(ALICE));
  await click('Show Token of alice');
  assert.ok((await markup()).includes(ALICE));
  await click('Show Token of alice');
  assert.ok(!(await markup()).includes(ALICE));
  await page.picture('video-api-start');
});

test('a request that fails is seen at once, with what was sent, why it was refused, and as a command line without secrets', async () => {
  await view('requests?q=part%3Dnature');
  await page.until(`document.querySelector('.note').textContent === 'Live'`);
  const refused = await fetch(`${URL_OF_SERVICE}/youtube/v3/playlists?part=nature&key=demo-key`, {
    method: 'POST', body: JSON.stringify({ snippet: { title: 'Sent by a test' } }), headers: { 'content-type': 'application/json', authorization: `Bearer ${ALICE}` },
  });
  assert.equal(refused.status, 400);
  await page.until(`document.querySelectorAll('main tbody tr').length === 1`);
  await click('/youtube/v3/playlists?part=nature&key=...');
  await page.until(`document.querySelector('.opened')`);
  const opened = await text('.opened');
  for (const word of ['400', 'playlists.insert', 'unknownPart', 'Sent by a test', 'authorization: ...']) assert.ok(opened.includes(word), `${word}: ${opened}`);
  assert.ok(!opened.includes(ALICE) && !opened.includes('demo-key'), opened);
  await page.send('Browser.grantPermissions', { permissions: ['clipboardReadWrite', 'clipboardSanitizedWrite'] });
  await click('Copy as curl');
  await page.until(`[...document.querySelectorAll('.opened button')].some((each) => each.textContent === 'Copied')`);
  const command = await page.evaluate('navigator.clipboard.readText()');
  assert.ok(command.startsWith("curl -X POST '") && command.includes('Sent by a test') && !command.includes(ALICE), command);
  await page.picture('video-api-requests');
});

test('health shows memory, rates and the store', async () => {
  await view('health');
  await page.until(`document.querySelectorAll('.chart polyline[points]').length === 4`);
  const shown = await text();
  assert.match(shown, /Memory\s+[\d.]+ MiB/);
  assert.match(shown, /Records on disk\s+[\d.]+ [KM]iB/);
  await page.picture('video-api-health');
});

test('a fault is added, met and removed, and the clock is moved on', async () => {
  await view('faults');
  await page.run(() => {
    const fill = (label, value) => {
      const field = [...document.querySelectorAll('label.field')].find((each) => each.textContent === label).querySelector('input');
      field.value = value;
    };
    fill('Path', '/youtube/v3/i18nRegions');
    fill('Status', '503');
    fill('Times', '2');
  });
  await click('Add this fault');
  await page.until(`document.querySelector('table')?.innerText.includes('/youtube/v3/i18nRegions')`);
  assert.equal((await fetch(`${URL_OF_SERVICE}/youtube/v3/i18nRegions?part=snippet&key=demo-key`)).status, 503);
  await click('Remove the fault for any /youtube/v3/i18nRegions');
  await page.until(`document.querySelector('main').innerText.includes('No fault is in force')`);
  assert.equal((await fetch(`${URL_OF_SERVICE}/youtube/v3/i18nRegions?part=snippet&key=demo-key`)).status, 200);
  await click('+ 1 minute');
  await page.until(`document.querySelector('.clock').innerText.includes('60 s from the time of this machine')`);
  await click('Back to the time of this machine');
  await page.until(`document.querySelector('.clock').innerText.includes('(the time of this machine)')`);
});

test('channels show banner and sections, videos their pictures, playlists their items, and quota its projects', async () => {
  await view(`channels/${ALICE_CHANNEL}?as=alice`);
  await page.until(`document.querySelector('.banner')?.naturalWidth > 0 && document.querySelector('tbody .picture')?.naturalWidth > 0`);
  assert.match(await text(), /Section "'onmouseover=window\.hit=1/);
  await page.picture('video-api-channel');
  await view('videos?as=');
  await page.until(`document.querySelector('tbody .picture')?.naturalWidth > 0`);
  assert.ok((await text()).includes(`Bread ${QUOTED}`));
  assert.ok(!(await text()).includes('Kept to myself'));
  await view('videos?as=alice&mine=1');
  assert.ok((await text()).includes('Kept to myself'));
  await view(`playlists/${made.playlist}?as=`);
  assert.ok((await text('tbody')).includes(`Bread ${QUOTED}`));
  await view('quota');
  assert.match(await text('tbody'), /demo\s+off/);
});

/** Drops a file of these bytes, repeated, on the view. */
const drop = async (name, bytes, times = 1) => {
  // A view that is loaded anew, as after an upload, has no place for it meanwhile.
  await page.until(`document.querySelector('.drop')`);
  await page.run(dropOnArea, name, Buffer.from(bytes).toString('base64'), times);
};
const dropOnArea = (name, text, times) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const files = new DataTransfer();
  files.items.add(new File(Array.from({ length: times }, () => bytes), name));
  const area = document.querySelector('.drop');
  const event = (type) => new DragEvent(type, { dataTransfer: files, bubbles: true, cancelable: true });
  if (area.dispatchEvent(event('dragover')) || !area.classList.contains('over')) throw new Error('nothing may be dropped here');
  area.dispatchEvent(event('drop'));
  if (area.classList.contains('over')) throw new Error('it is still marked');
};
const lines = () => page.evaluate(`[...document.querySelectorAll('.uploads li')].map((each) => each.innerText).join('\\n')`);

test('a film that is dropped on the videos is uploaded in pieces with progress, and stands among those of the one who dropped it', async () => {
  await view('videos?as=');
  assert.match(await text(), /which account to act as to upload/);
  await view('videos?as=alice');
  page.asked.length = 0;
  await page.run(() => {
    window.seen = [];
    new MutationObserver(() => {
      const bar = document.querySelector('.uploads progress');
      if (bar) window.seen.push(bar.value);
    }).observe(document.querySelector('.uploads'), { subtree: true, childList: true, characterData: true });
  });
  await drop('Dropped <film>.webm', made.film);
  await page.until(`document.querySelector('.uploads a') && !document.querySelector('.uploads progress') && location.hash.includes('mine=1') && document.querySelector('tbody')?.innerText.includes('Dropped')`);
  const { items } = await call('GET', '/youtube/v3/search?part=snippet&forMine=true&type=video&q=dropped');
  assert.deepEqual(items.map(({ snippet }) => snippet.title), ['Dropped  film']);
  const { items: [{ status }] } = await call('GET', `/youtube/v3/videos?part=status&id=${items[0].id.videoId}`);
  assert.equal(status.privacyStatus, 'private');
  assert.ok(['uploaded', 'processed'].includes(status.uploadStatus), JSON.stringify(status));
  assert.ok(page.asked.some((url) => url.includes('/upload/youtube/v3/videos?uploadType=resumable')), page.asked.join());
  // More than two pieces, which are no film: each is acknowledged, and the service says what became of it.
  page.asked.length = 0;
  await drop('Noise', new Uint8Array(64 * 1024).fill(7), 80);
  await page.until(`document.querySelectorAll('.uploads a').length === 2`);
  const pieces = page.asked.filter((url) => url.includes('/upload/') && url.includes('upload_id='));
  assert.equal(pieces.length, 3);
  const seen = await page.evaluate('window.seen');
  assert.ok(seen.includes(2 * 1024 * 1024) && seen.includes(4 * 1024 * 1024), JSON.stringify(seen));
  await page.picture('video-api-upload');
});

test('a file is chosen with the keyboard instead, and an upload that is refused or stopped says so', async () => {
  await view('videos?as=alice');
  const chosen = await page.run(() => {
    const input = document.querySelector('.drop input[type=file]');
    input.focus();
    const files = new DataTransfer();
    files.items.add(new File(['not much'], 'Chosen.mp4', { type: 'video/mp4' }));
    input.files = files.files;
    const isFocused = document.activeElement === input && input.tabIndex === 0;
    input.dispatchEvent(new Event('change', { bubbles: true }));
    return isFocused;
  });
  assert.equal(chosen, true);
  // It ends with the view of the caller's own videos, which would otherwise come in the way of the next one.
  await page.until(`[...document.querySelectorAll('.uploads a')].some((each) => each.textContent === 'Chosen') && location.hash.includes('mine=1') && document.querySelector('tbody')?.innerText.includes('Chosen')`);
  await control('POST', 'faults', { path: '/upload/youtube/v3/videos', method: 'PUT', status: 403, times: 1 });
  await view('videos?as=alice');
  await drop('Refused.mp4', Buffer.from('nothing'));
  await page.until(`document.querySelector('.uploads .refusal')`);
  assert.match(await lines(), /Refused\.mp4/);
  await control('POST', 'faults', { path: '/upload/youtube/v3/videos', method: 'PUT', status: 503, times: 1 });
  await drop('Tried again.mp4', Buffer.from('nothing'));
  await page.until(`[...document.querySelectorAll('.uploads a')].some((each) => each.textContent === 'Tried again') && location.hash.includes('mine=1') && document.querySelector('tbody')?.innerText.includes('Tried again')`);
  await control('POST', 'faults', { path: '/upload/youtube/v3/videos', method: 'PUT', status: 503, times: 9 });
  await drop('Stopped.mp4', Buffer.from('nothing'));
  await page.until(`document.querySelector('.uploads button')`);
  await click('Stop the upload of Stopped.mp4', '.uploads');
  await page.until(`document.querySelector('.uploads').innerText.includes('Stopped.mp4 was stopped')`);
  await control('DELETE', 'faults');
});

test('the owner plays her private film within the page', async () => {
  await view(`videos/${made.hidden}?as=bob`);
  assert.match(await text(), /videoNotFound/);
  await view(`videos/${made.hidden}?as=alice`);
  await click('Play');
  await page.until(`document.querySelector('iframe')?.contentDocument?.querySelector('video')?.readyState >= 1`);
  assert.match(await page.evaluate(`document.querySelector('iframe').src`), /ticket=/);
});

test('the owner holds, publishes, rejects and deletes comments, and is asked before one goes', async () => {
  const state = async (id) => (await call('GET', `/youtube/v3/commentThreads?part=snippet&allThreadsRelatedToChannelId=${ALICE_CHANNEL}&moderationStatus=heldForReview`)).items.some((item) => item.id === id);
  await view(`comments/video/${made.video}?as=alice`);
  await page.until(`document.querySelector('.thread')`);
  const within = async (word) => page.run((word) => {
    for (const each of document.querySelectorAll('.thread')) each.removeAttribute('data-wanted');
    [...document.querySelectorAll('main section .part > div > .thread')].find((each) => each.innerText.includes(word)).setAttribute('data-wanted', '');
  }, word);
  await within('A word about bread');
  await click('Hold', '[data-wanted]');
  await page.until(`![...document.querySelectorAll('.thread')].some((each) => each.innerText.includes('A word about bread'))`);
  assert.equal(await state(made.plain), true);
  await view(`comments/video/${made.video}?as=alice&state=heldForReview`);
  await page.until(`document.querySelector('.thread')`);
  await page.picture('video-api-comments');
  await within('A word about bread');
  await click('Publish', '[data-wanted]');
  await page.until(`document.querySelector('main').innerText.includes('No comment is in this state')`);
  assert.equal(await state(made.plain), false);
  await view(`comments/video/${made.video}?as=alice`);
  await page.until(`document.querySelectorAll('.thread').length > 2`);
  await within('A word about bread');
  await click('Delete', '[data-wanted]');
  await page.until(`document.querySelector('dialog[open]')`);
  assert.match(await text('dialog'), /A word about bread/);
  await page.press('Escape');
  await page.until(`!document.querySelector('dialog')`);
  await click('Delete', '[data-wanted]');
  await page.until(`document.querySelector('dialog[open]')`);
  await click('Delete', 'dialog');
  await page.until(`![...document.querySelectorAll('.thread')].some((each) => each.innerText.includes('A word about bread'))`);
  await assert.rejects(call('DELETE', `/youtube/v3/comments?id=${made.plain}`), /404/);
});

test('markup and script in what is stored, and in the address of the page, are shown and never run', async () => {
  page.complaints.length = 0;
  page.asked.length = 0;
  await page.go(`${UI}#/videos/${encodeURIComponent(HOSTILE)}?as=alice`);
  for (const path of [`videos/${made.video}`, `comments/video/${made.video}`, `channels/${ALICE_CHANNEL}`, `playlists/${made.playlist}`, 'videos', 'playlists', 'channels', 'requests',
    `videos/${encodeURIComponent(HOSTILE)}`, `requests/${encodeURIComponent(HOSTILE)}`, `comments/video/${encodeURIComponent(HOSTILE)}`, `videos?q=${encodeURIComponent(HOSTILE)}`]) {
    await view(path);
  }
  await fetch(`${URL_OF_SERVICE}/${encodeURI(HOSTILE)}`, { headers: { 'x-hostile': HOSTILE } });
  await view(`videos/${made.video}`);
  await page.until(`document.querySelector('.thread')`);
  const shown = await text();
  assert.ok(shown.includes(HOSTILE), shown);
  const found = await page.run(() => ({
    hit: window.hit,
    scripts: document.querySelectorAll('script').length,
    handlers: [...document.querySelectorAll('*')].filter((each) => [...each.attributes].some(({ name }) => name.startsWith('on'))).length,
    pictures: [...document.images].filter((each) => !new URL(each.src).pathname.startsWith('/vi/')).length,
  }));
  assert.deepEqual(found, { scripts: 1, handlers: 0, pictures: 0 });
  const refusals = page.complaints.filter((each) => !/status of 4\d\d/.test(each));
  assert.deepEqual(refusals, []);
  assert.deepEqual(page.dialogs, []);
  assert.deepEqual(page.asked.filter((url) => new URL(url).origin !== new URL(URL_OF_SERVICE).origin), []);
});

test('no view has a fault that keeps people from using it, light and dark, and each fits 360 pixels', async () => {
  const paths = { start: 'start', channels: 'channels', channel: `channels/${ALICE_CHANNEL}`, videos: 'videos', video: `videos/${made.video}`, playlists: 'playlists',
    playlist: `playlists/${made.playlist}`, comments: `comments/video/${made.video}`, quota: 'quota', requests: 'requests', faults: 'faults', health: 'health' };
  await page.go(`${UI}#/start?as=alice`);
  for (const scheme of ['light', 'dark']) {
    for (const [name, path] of Object.entries(paths)) {
      await page.look({ scheme });
      await view(path);
      // The library is given to the page by the browser, past its policy.
      await page.evaluate(`window.axe || (() => { ${AXE} })(); undefined`);
      const found = await page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.filter(({ impact }) => ['serious', 'critical'].includes(impact)).map(({ id, nodes }) => [id, nodes[0].html, nodes[0].failureSummary]))`);
      assert.deepEqual(found, [], `${name} in ${scheme}`);
      await page.picture(`video-api/${name}-${scheme}`);
      await page.look({ scheme, width: 360 });
      assert.ok(await page.evaluate('document.documentElement.scrollWidth') <= 360, `${name} is wider than 360 pixels`);
    }
  }
  await page.look();
});

test('the page is used with the keyboard alone, and its address says what it shows', async () => {
  await page.go(`${UI}?again#/start`);
  await page.until(`document.querySelectorAll('#views a').length > 5`);
  await page.press('Tab');
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to content');
  for (let presses = 0; presses < 20 && await page.evaluate('document.activeElement.textContent') !== 'Videos'; presses += 1) await page.press('Tab');
  assert.notEqual(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none');
  await page.press('Enter');
  await page.until(`location.hash.startsWith('#/videos') && document.querySelector('h1').textContent === 'Videos' && !document.querySelector('main[aria-busy]')`);
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1');
  await page.go(`${UI}?third#/videos?q=bread`);
  await page.until(`document.querySelector('tbody tr')`);
  assert.equal(await page.evaluate(`document.querySelector('[role=search] input').value`), 'bread');
});

/** A server of this test's own, on a port that it keeps. */
async function startServer(data, port) {
  const flags = ['--data', join(data, 'store'), '--seed', process.env.TRIPTYCH_VIDEO_SEED, '--port', String(port), '--log', join(data, 'log'), '--ready-file', join(data, 'ready')];
  const child = spawn(process.env.TRIPTYCH_VIDEO_BINARY, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => line.endsWith('is ready') && resolve());
    child.on('exit', (code) => reject(new Error(`it ended with ${code}`)));
  });
  const { url } = JSON.parse(readFileSync(join(data, 'ready'), 'utf8'));
  const kill = () => new Promise((resolve) => { child.on('exit', resolve); child.kill('SIGKILL'); });
  return { url, port: Number(new URL(url).port), kill };
}

test('a service that goes away and comes back is said to, and the page goes on where it stopped', async () => {
  const data = mkdtempSync(join(tmpdir(), 'page-'));
  let server = await startServer(data, 0);
  const other = await browser.page();
  await other.go(`${server.url}/_ui/#/requests`);
  await other.until(`document.querySelector('.note')?.textContent === 'Live'`);
  await server.kill();
  await other.until(`document.querySelector('#state').textContent === 'gone' && document.querySelector('.note').textContent.startsWith('The service is gone')`);
  server = await startServer(data, server.port);
  await other.until(`document.querySelector('#state').textContent === 'ready' && document.querySelector('.note')?.textContent === 'Live'`);
  await fetch(`${server.url}/youtube/v3/i18nRegions?part=snippet&hl=after&key=demo-key`);
  await other.until(`document.querySelectorAll('tbody tr').length > 0 && document.querySelector('tbody').innerText.includes('hl=after')`);
  await server.kill();
  rmSync(data, { recursive: true, force: true });
});
