// @aws-sdk/s3-presigned-post, unmodified: forms that Node's own fetch sends.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { GetObjectCommand } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';

import { client } from './sdk.mjs';

const s3 = client();
const Bucket = 'demo';

after(() => s3.destroy());

const send = async ({ url, fields }, bytes, more = {}) => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...fields, ...more })) form.append(name, value);
  form.append('file', new Blob([bytes], { type: 'text/plain' }), 'cat.txt');
  return fetch(url, { method: 'POST', body: form, redirect: 'manual' });
};

test('a form uploads what its conditions take', async () => {
  const presigned = await createPresignedPost(s3, {
    Bucket,
    Key: 'form/${filename}',
    Fields: { 'x-amz-meta-a': 'b' },
    Conditions: [['content-length-range', 1, 200_000]],
    Expires: 60,
  });
  const bytes = Buffer.alloc(150_000, 7);
  const answer = await send(presigned, bytes);
  assert.equal(answer.status, 204, await answer.text());
  const got = await s3.send(new GetObjectCommand({ Bucket, Key: 'form/cat.txt' }));
  assert.deepEqual(Buffer.from(await got.Body.transformToByteArray()), bytes);
  assert.deepEqual([got.Metadata, got.ETag], [{ a: 'b' }, answer.headers.get('etag')]);
  const large = await send(presigned, Buffer.alloc(200_001));
  assert.equal(large.status, 400);
  assert.match(await large.text(), /<Code>EntityTooLarge<\/Code>.*<ProposedSize>200001</);
  const extra = await send(presigned, bytes, { 'x-amz-meta-c': 'd' });
  assert.equal(extra.status, 403);
});
