// The player in a real browser: captions and watermark at their time, and nothing that is stored runs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { ALICE_CHANNEL, URL_OF_SERVICE, call, captions, control, png, upload, video } from './api.mjs';
import { Browser } from './browser.mjs';
import { film } from './webm.mjs';

const TRACK = `WEBVTT

00:00.000 --> 00:04.000
The first third

00:04.000 --> 00:08.000
The second third

00:08.000 --> 00:12.000
The last third
`;
const SHOWN = `({
  cues: [...document.querySelector('video').textTracks].filter(({ mode }) => mode === 'showing').flatMap(({ activeCues }) => [...activeCues].map(({ text }) => text)),
  watermark: !document.querySelector('.watermark').hidden,
})`;

let browser;
let page;
let bytes;

before(async () => {
  browser = await Browser.start();
  page = await browser.page();
  await page.look({ width: 640, height: 360 });
  await page.go(`${URL_OF_SERVICE}/embed/player.js`);
  bytes = await film(page);
});
after(() => browser?.stop());

/** Goes to a moment of the film; cues and watermark of it come after the moment itself, each in its own time. */
async function seek(seconds) {
  await page.run((seconds) => new Promise((resolve) => {
    const video = document.querySelector('video');
    video.addEventListener('seeked', resolve, { once: true });
    video.currentTime = seconds;
  }), seconds);
}

/** Goes to a moment of the film, and waits until this is shown. */
async function showsAt(seconds, expected) {
  await seek(seconds);
  await page.until(`JSON.stringify(${SHOWN}) === ${JSON.stringify(JSON.stringify(expected))}`);
}

test('the player shows the right cue, and the watermark in its corner at its time, at three moments', async () => {
  const id = await video('A film of twelve seconds', bytes);
  await captions(id, TRACK);
  const timing = { type: 'offsetFromStart', offsetMs: '4000', durationMs: '4000' };
  await upload(`watermarks/set?channelId=${ALICE_CHANNEL}`, { timing, position: { type: 'corner', cornerPosition: 'topRight' } }, 'image/png', png(150, 150));
  await page.go(`${URL_OF_SERVICE}/embed/${id}`);
  await page.until(`document.querySelector('video').readyState >= 1 && document.querySelector('track').readyState === 2`);
  await showsAt(2, { cues: ['The first third'], watermark: false });
  await showsAt(6, { cues: ['The second third'], watermark: true });
  await page.until(`document.querySelector('.watermark img').naturalWidth > 0`);
  const place = await page.run(() => {
    const [mark, video] = ['.watermark', 'video'].map((which) => document.querySelector(which).getBoundingClientRect());
    const { naturalWidth } = document.querySelector('.watermark img');
    return { right: video.right - mark.right, top: mark.top - video.top, width: mark.width, naturalWidth };
  });
  assert.ok(place.naturalWidth > 0 && place.width > 20, JSON.stringify(place));
  assert.ok(place.right >= 0 && place.right < 40 && place.top >= 0 && place.top < 40, JSON.stringify(place));
  const link = await page.evaluate(`document.querySelector('.watermark').href`);
  assert.ok(link.endsWith(`/channel/${ALICE_CHANNEL}`), link);
  await page.picture('video-api-player');
  await showsAt(10, { cues: ['The last third'], watermark: false });
  assert.deepEqual(page.complaints, []);
});

test('the begin of a play counts as one view, and what plays on counts no more', async () => {
  const id = await video('Played', bytes);
  const views = async () => (await call('GET', `/youtube/v3/videos?part=statistics&id=${id}`)).items[0].statistics.viewCount;
  await page.go(`${URL_OF_SERVICE}/embed/${id}`);
  await page.evaluate(`(async () => {
    const video = document.querySelector('video');
    video.muted = true;
    const counted = new Promise((resolve) => new PerformanceObserver((list) => list.getEntriesByName(new URL(video.dataset.play, location).href).length && resolve()).observe({ type: 'resource' }));
    await video.play();
    video.pause();
    await counted;
    await video.play();
    video.pause();
  })()`);
  await page.until(`document.querySelector('video').paused`);
  assert.equal(await views(), '1');
});

test('the player of a playlist plays one film after the other, and passes over one by its link', async () => {
  const films = [];
  for (const title of ['First', 'Second', 'Third']) {
    films.push(await video(title, bytes));
  }
  const { id } = await call('POST', '/youtube/v3/playlists?part=snippet', { json: { snippet: { title: 'Series' } } });
  for (const videoId of films) {
    await call('POST', '/youtube/v3/playlistItems?part=snippet', { json: { snippet: { playlistId: id, resourceId: { kind: 'youtube#video', videoId } } } });
  }
  page.complaints.length = 0;
  await page.go(`${URL_OF_SERVICE}/embed/videoseries?list=${id}`);
  await page.until(`document.querySelector('video').readyState >= 1 && document.title === 'First'`);
  await page.evaluate(`(() => {
    window.titles = [];
    new MutationObserver(() => window.titles.push(document.title)).observe(document.querySelector('title'), { childList: true });
    document.querySelector('video').muted = true;
    document.querySelector('a.next').click();
  })()`);
  // The second film plays by itself, and is taken near its end.
  await page.until(`window.titles.length > 0 && document.querySelector('video').readyState >= 1`);
  await page.evaluate(`document.title === 'Second' && (document.querySelector('video').currentTime = 11.5)`);
  await page.until(`document.title === 'Third' && document.querySelector('video').currentTime > 0`);
  assert.deepEqual(await page.evaluate('window.titles'), ['Second', 'Third']);
  assert.equal(await page.evaluate(`document.querySelector('video').muted`), true);
  assert.equal(await page.evaluate(`document.querySelectorAll('video').length === 1 && document.querySelector('a.next') === null`), true);
  assert.deepEqual(page.complaints, []);
});

test('a private film and one that may not be embedded play by a link, and by no other address', async () => {
  for (const status of [{ privacyStatus: 'private' }, { embeddable: false }]) {
    const id = await video('Hidden', bytes, { status });
    await page.go(`${URL_OF_SERVICE}/embed/${id}`);
    assert.equal(await page.evaluate(`document.querySelector('[role=alert]') !== null && document.querySelector('video') === null`), true);
    const { url } = await control('POST', 'playerLinks', { video: id });
    await page.go(url);
    await page.until(`document.querySelector('video').readyState >= 1`);
  }
});

test('markup and script in titles, captions, names and promotions run nothing in the player', async () => {
  const id = await video(`"'onloadstart=window.hit=1 x=&quot;`, bytes, { description: `"><img src=x onerror=window.hit=1>`.replaceAll(/[<>]/g, '') });
  const cue = '<img src=x onerror=window.hit=1>&lt;script&gt;window.hit=1&lt;/script&gt;<c.\'"onclick=window.hit=1>Text</c><v "onmouseover=window.hit=1">said</v>';
  await captions(id, `WEBVTT\n\nSTYLE\n::cue { background-image: url(//elsewhere.example/x.png) }\n\n00:00.000 --> 00:12.000\n${cue}\n`, { name: `"><script>window.hit=1</script><track "` });
  await captions(id, `WEBVTT\n\n00:00.000 --> 00:12.000\n${cue}\n`, { language: 'de', name: `' onload=window.hit=1 '` });
  const promotion = {
    defaultTiming: { type: 'offsetFromStart', offsetMs: '0' },
    position: { type: 'corner', cornerPosition: 'bottomLeft' },
    items: [{ id: { type: 'website', websiteUrl: 'https://example.com/"onmouseover="window.hit=1' }, customMessage: `"'onclick=window.hit=1 &lt;script&gt;window.hit=1&lt;/script&gt;` }],
  };
  await call('PUT', '/youtube/v3/channels?part=invideoPromotion', { json: { id: ALICE_CHANNEL, invideoPromotion: promotion } });
  page.complaints.length = 0;
  page.asked.length = 0;
  await page.go(`${URL_OF_SERVICE}/embed/${id}`);
  await page.until(`document.querySelector('video').readyState >= 1 && [...document.querySelectorAll('track')].some(({ readyState }) => readyState === 2)`);
  await seek(6);
  await page.until(`document.querySelector('video').textTracks[0].activeCues?.length > 0`);
  await page.until(`!document.querySelector('.promotion').hidden`);
  const found = await page.run(() => ({
    hit: window.hit,
    scripts: document.querySelectorAll('script').length,
    pictures: document.querySelectorAll('main img:not(.watermark img)').length,
    handlers: [...document.querySelectorAll('*')].filter((each) => [...each.attributes].some(({ name }) => name.startsWith('on'))).length,
    promotion: document.querySelector('.promotion').textContent,
  }));
  assert.deepEqual(found, { scripts: 1, pictures: 0, handlers: 0, promotion: promotion.items[0].customMessage });
  assert.deepEqual(page.complaints, []);
  assert.deepEqual(page.dialogs, []);
  assert.deepEqual(page.asked.filter((url) => new URL(url).origin !== new URL(URL_OF_SERVICE).origin), []);
});
