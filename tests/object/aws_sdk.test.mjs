// @aws-sdk/client-s3, unmodified: strings, streams, presigned addresses and typed errors.

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { Readable } from 'node:stream';

import {
  DeleteObjectsCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

import { client, reader } from './sdk.mjs';

const s3 = client();
const Bucket = 'demo';

after(() => s3.destroy());

const read = reader(s3, Bucket);

test('a string is put and read back with its type and metadata', async () => {
  const put = await s3.send(
    new PutObjectCommand({ Bucket, Key: 'js/text', Body: 'hello', ContentType: 'text/plain', Metadata: { a: 'b' } }),
  );
  assert.equal(put.ETag, `"${createHash('md5').update('hello').digest('hex')}"`);
  assert.equal((await read('js/text')).toString(), 'hello');
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'js/text' }));
  assert.deepEqual([head.ContentType, head.Metadata], ['text/plain', { a: 'b' }]);
});

for (const ChecksumAlgorithm of ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256']) {
  test(`a body travels with its ${ChecksumAlgorithm}`, async () => {
    const Body = randomBytes(70_000);
    const Key = `js/${ChecksumAlgorithm}`;
    const put = await s3.send(new PutObjectCommand({ Bucket, Key, Body, ChecksumAlgorithm }));
    assert.ok(put[`Checksum${ChecksumAlgorithm}`], JSON.stringify(put));
    assert.deepEqual(await read(Key), Body);
  });
}

test('a stream of known length goes up in signed or unsigned chunks', async () => {
  const bytes = randomBytes(400_000);
  const Body = Readable.from([bytes.subarray(0, 150_000), bytes.subarray(150_000)], { objectMode: false });
  await s3.send(new PutObjectCommand({ Bucket, Key: 'js/stream', Body, ContentLength: bytes.length }));
  assert.deepEqual(await read('js/stream'), bytes);
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'js/stream' }));
  assert.ok(!head.ContentEncoding, 'the framing of the stream is not part of the object');
});

test('a presigned address lets anybody put, and only that object', async () => {
  const address = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key: 'js/presigned' }), { expiresIn: 60 });
  const put = await fetch(address, { method: 'PUT', body: 'by address' });
  assert.equal(put.status, 200, await put.text());
  assert.equal((await read('js/presigned')).toString(), 'by address');
  const other = await fetch(address.replace('js/presigned', 'js/other'), { method: 'PUT', body: 'x' });
  assert.equal(other.status, 403);
});

test('what a presigned address says of its object arrives', async () => {
  const Key = 'js/described';
  const described = {
    Metadata: { color: 'blue', size: 'a lot' },
    Tagging: 'a=1&b=two%20words',
    StorageClass: 'STANDARD_IA',
    WebsiteRedirectLocation: '/elsewhere',
    ACL: 'bucket-owner-full-control',
  };
  const address = await getSignedUrl(s3, new PutObjectCommand({ Bucket, Key, ...described }), { expiresIn: 60 });
  const put = await fetch(address, { method: 'PUT', body: 'by address' });
  assert.equal(put.status, 200, await put.text());
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key }));
  assert.deepEqual(head.Metadata, described.Metadata);
  assert.equal(head.StorageClass, described.StorageClass);
  assert.equal(head.WebsiteRedirectLocation, described.WebsiteRedirectLocation);
  const { TagSet } = await s3.send(new GetObjectTaggingCommand({ Bucket, Key }));
  assert.deepEqual(TagSet, [
    { Key: 'a', Value: '1' },
    { Key: 'b', Value: 'two words' },
  ]);
  const changed = await fetch(address.replace('blue', 'red'), { method: 'PUT', body: 'x' });
  assert.equal(changed.status, 403);
  const ofOther = new PutObjectCommand({ Bucket, Key, ExpectedBucketOwner: '444455556666' });
  const refused = await fetch(await getSignedUrl(s3, ofOther, { expiresIn: 60 }), { method: 'PUT', body: 'x' });
  assert.equal(refused.status, 403);
});

test('a second writer that wants to create is refused by name', async () => {
  const put = (Body) => s3.send(new PutObjectCommand({ Bucket, Key: 'js/once', Body, IfNoneMatch: '*' }));
  await put('first');
  await assert.rejects(put('second'), { name: 'PreconditionFailed' });
});

test('errors have the names that the SDK knows', async () => {
  await assert.rejects(read('js/nothing'), { name: 'NoSuchKey' });
  const nowhere = new PutObjectCommand({ Bucket: 'nowhere', Key: 'a', Body: 'x' });
  await assert.rejects(s3.send(nowhere), { name: 'NoSuchBucket' });
});

test('a listing pages through what was put, and many are deleted at once', async () => {
  const keys = ['a', 'b', 'c'].map((name) => `js/list/${name}`);
  for (const Key of keys) await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
  const found = [];
  let token;
  do {
    const page = await s3.send(
      new ListObjectsV2Command({ Bucket, Prefix: 'js/list/', MaxKeys: 2, ContinuationToken: token }),
    );
    found.push(...page.Contents.map(({ Key }) => Key));
    token = page.NextContinuationToken;
  } while (token);
  assert.deepEqual(found, keys);
  await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })) } }));
  const left = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'js/list/' }));
  assert.equal(left.KeyCount, 0);
});
