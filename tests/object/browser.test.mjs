// A headless Chromium: pages of another origin upload by form and by fetch as far as rules let them, and a bucket is read as a website.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketCorsCommand,
  PutBucketPolicyCommand,
  PutBucketWebsiteCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

import { Browser } from '../video/browser.mjs';
import { client, reader } from './sdk.mjs';

const s3 = client();
const Bucket = `browser-${process.pid}`;
const read = reader(s3, Bucket);
const PAGE = '<!doctype html><meta charset="utf-8"><title>page</title><form method="post" enctype="multipart/form-data"></form>';

let browser;
let page;
let pages;
let origin;

before(async () => {
  await s3.send(new CreateBucketCommand({ Bucket }));
  pages = http.createServer((_, answer) => answer.setHeader('content-type', 'text/html').end(PAGE));
  await new Promise((resolve) => pages.listen(0, resolve));
  origin = `http://127.0.0.1:${pages.address().port}`;
  browser = await Browser.start();
  page = await browser.page();
});
after(async () => {
  s3.destroy();
  pages.closeAllConnections();
  pages.close();
  await browser?.stop();
});

/** Sends the form of the page that is shown, as a user does who has chosen a file; `more` are fields that a page adds. */
const submit = ({ url, fields }, bytes, more = {}) => page.run((url, fields, bytes) => {
  const form = document.querySelector('form');
  form.action = url;
  const add = (name, type) => form.appendChild(Object.assign(document.createElement('input'), { name, type }));
  for (const [name, value] of Object.entries(fields)) add(name, 'hidden').value = value;
  const chosen = new DataTransfer();
  chosen.items.add(new File([new Uint8Array(bytes).fill(7)], 'ca t ü.bin', { type: 'image/x-own' }));
  add('file', 'file').files = chosen.files;
  form.submit();
}, url, { ...fields, ...more }, bytes);

/** Status, headers that the page may see and text of what a page asks for by fetch; the name of the error where the browser refuses. */
const ask = (url, options) => page.run(async (url, options) => {
  try {
    const answer = await fetch(url, options);
    return { status: answer.status, headers: Object.fromEntries(answer.headers), text: await answer.text() };
  } catch (error) {
    return { refused: error.name };
  }
}, url, options);

test('a page of another origin uploads by form and is led on to a page of its own', async () => {
  await page.go(`${origin}/form`);
  const done = `${origin}/done?a=b`;
  const presigned = await createPresignedPost(s3, {
    Bucket,
    Key: 'form/${filename}',
    Fields: { 'x-amz-meta-from': 'a page', success_action_redirect: done },
    Conditions: [['content-length-range', 1, 400_000]],
  });
  await submit(presigned, 300_000);
  const led = new URL(await page.until(`location.pathname === '/done' && location.href`));
  assert.deepEqual([led.searchParams.get('a'), led.searchParams.get('bucket'), led.searchParams.get('key')], ['b', Bucket, 'form/ca t ü.bin']);
  const got = await s3.send(new GetObjectCommand({ Bucket, Key: 'form/ca t ü.bin' }));
  assert.deepEqual(Buffer.from(await got.Body.transformToByteArray()), Buffer.alloc(300_000, 7));
  assert.deepEqual([got.Metadata, got.ETag], [{ from: 'a page' }, led.searchParams.get('etag')]);
});

test('a form that its policy does not fit stores nothing and shows the fault', async () => {
  const presigned = await createPresignedPost(s3, { Bucket, Key: 'form/one', Conditions: [['content-length-range', 1, 1_000]] });
  for (const [bytes, more, code] of [[10, { key: 'form/other' }, 'AccessDenied'], [1_001, {}, 'EntityTooLarge'], [10, { acl: 'public-read' }, 'AccessDenied']]) {
    await page.go(`${origin}/form`);
    await submit(presigned, bytes, more);
    await page.until(`location.origin !== ${JSON.stringify(origin)} && document.documentElement.textContent.includes(${JSON.stringify(code)})`);
  }
  for (const Key of ['form/one', 'form/other']) await assert.rejects(s3.send(new HeadObjectCommand({ Bucket, Key })), { name: 'NotFound' });
});

test('a page uploads and reads by fetch where a rule lets it, and the browser stops it where none does', async () => {
  await page.go(`${origin}/fetch`);
  const rule = { AllowedOrigins: [origin], AllowedMethods: ['PUT', 'GET'], AllowedHeaders: ['content-type', 'x-amz-*'], ExposeHeaders: ['ETag', 'x-amz-meta-own'] };
  const signed = (command) => getSignedUrl(s3, command, { expiresIn: 60 });
  const put = await signed(new PutObjectCommand({ Bucket, Key: 'fetched', Metadata: { own: 'kept' } }));
  const options = { method: 'PUT', body: 'from a page', headers: { 'content-type': 'text/x-own' } };
  assert.deepEqual(await ask(put, options), { refused: 'TypeError' });
  await s3.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [rule] } }));
  const answer = await ask(put, options);
  assert.equal(answer.status, 200);
  const got = await ask(await signed(new GetObjectCommand({ Bucket, Key: 'fetched' })));
  assert.deepEqual([got.text, got.headers.etag, got.headers['x-amz-meta-own']], ['from a page', answer.headers.etag, 'kept']);
  assert.equal(got.headers['x-amz-request-id'], undefined);
  const absent = await ask(await signed(new GetObjectCommand({ Bucket, Key: 'absent' })));
  assert.match(absent.text, /<Code>NoSuchKey</);
  for (const wrong of [{ method: 'DELETE' }, { ...options, headers: { 'x-other': '1' } }]) assert.deepEqual(await ask(put, wrong), { refused: 'TypeError' });
  await page.go(`http://localhost:${pages.address().port}/fetch`);
  assert.deepEqual(await ask(put, { ...options, body: 'from elsewhere' }), { refused: 'TypeError' });
  assert.equal(String(await read('fetched')), 'from a page');
});

/** A server of this test's own, which has websites. */
async function startServer() {
  const data = mkdtempSync(join(tmpdir(), 'website-'));
  const flags = ['--data', join(data, 'store'), '--seed', process.env.TRIPTYCH_OBJECT_SEED, '--port', '0', '--log', join(data, 'log'), '--ready-file', join(data, 'ready')];
  flags.push('--website-host', 'web.localhost', '--without-public-access-block');
  const child = spawn(process.env.TRIPTYCH_OBJECT_BINARY, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => line.endsWith('is ready') && resolve());
    child.on('exit', (code) => reject(new Error(`it ended with ${code}`)));
  });
  const { url } = JSON.parse(readFileSync(join(data, 'ready'), 'utf8'));
  const stop = async () => {
    await new Promise((resolve) => { child.on('exit', resolve); child.kill(); });
    rmSync(data, { recursive: true, force: true });
  };
  return { url, stop };
}

test('a browser reads a website: index, folder, routing rule, redirect of an object and error document', async () => {
  const server = await startServer();
  const own = client({ endpoint: server.url });
  try {
    await site(own);
    const base = `http://site.web.localhost:${new URL(server.url).port}`;
    const visit = async (path, title) => {
      await page.send('Page.navigate', { url: base + path });
      await page.until(`document.readyState === 'complete' && document.title === ${JSON.stringify(title)}`);
      return page.evaluate(`[location.pathname, performance.getEntriesByType('navigation')[0].responseStatus]`);
    };
    assert.deepEqual(await visit('/', 'start'), ['/', 200]);
    assert.equal(await page.evaluate('getComputedStyle(document.body).color'), 'rgb(1, 2, 3)');
    await page.evaluate(`document.querySelector('a').click()`);
    await page.until(`document.title === 'docs' && location.pathname === '/docs/'`);
    assert.deepEqual(await visit('/old/page.html?a=b', 'page'), ['/docs/page.html', 200]);
    assert.deepEqual(await visit('/moved', 'page'), ['/docs/page.html', 200]);
    assert.deepEqual(await visit('/nowhere at <b>all</b>', 'lost'), ['/nowhere%20at%20%3Cb%3Eall%3C/b%3E', 404]);
  } finally {
    own.destroy();
    await server.stop();
  }
});

/** A website of five pages. */
async function site(own) {
  const named = { Bucket: 'site' };
  const pageOf = (title, body = '') => `<!doctype html><title>${title}</title>${body}`;
  await own.send(new CreateBucketCommand(named));
  const Statement = [
    { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::site/*' },
    { Effect: 'Allow', Principal: '*', Action: 's3:ListBucket', Resource: 'arn:aws:s3:::site' },
  ];
  await own.send(new PutBucketPolicyCommand({ ...named, Policy: JSON.stringify({ Version: '2012-10-17', Statement }) }));
  const rule = { Condition: { KeyPrefixEquals: 'old/' }, Redirect: { ReplaceKeyPrefixWith: 'docs/', HttpRedirectCode: '302' } };
  const WebsiteConfiguration = { IndexDocument: { Suffix: 'index.html' }, ErrorDocument: { Key: 'error.html' }, RoutingRules: [rule] };
  await own.send(new PutBucketWebsiteCommand({ ...named, WebsiteConfiguration }));
  const objects = {
    'index.html': pageOf('start', '<link rel="stylesheet" href="/own.css"><a href="docs">docs</a>'),
    'docs/index.html': pageOf('docs'),
    'docs/page.html': pageOf('page'),
    'error.html': pageOf('lost'),
  };
  for (const [Key, Body] of Object.entries(objects)) await own.send(new PutObjectCommand({ ...named, Key, Body, ContentType: 'text/html' }));
  await own.send(new PutObjectCommand({ ...named, Key: 'own.css', Body: 'body { color: rgb(1, 2, 3) }', ContentType: 'text/css' }));
  await own.send(new PutObjectCommand({ ...named, Key: 'moved', Body: '', WebsiteRedirectLocation: '/docs/page.html' }));
}
