// @aws-sdk/client-s3, unmodified: it finds directory buckets by their names, makes sessions by itself, and appends.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { after, before, test } from 'node:test';

import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';

import { client, reader } from './sdk.mjs';

const port = new URL(process.env.TRIPTYCH_OBJECT_URL).port;
const Bucket = `js-${process.pid}--use1-az4--x-s3`;
// Not every resolver knows the names below localhost.
const lookup = (name, options, found) =>
  options.all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);
const endpoint = `http://localhost:${port}`;
const s3 = client({
  endpoint,
  forcePathStyle: false,
  requestHandler: { httpAgent: new http.Agent({ keepAlive: true, lookup }) },
});

// It asks for a session of the bucket before it makes it.
before(() =>
  s3.send(
    new CreateBucketCommand({
      Bucket,
      CreateBucketConfiguration: {
        Location: { Name: 'use1-az4', Type: 'AvailabilityZone' },
        Bucket: { DataRedundancy: 'SingleAvailabilityZone', Type: 'Directory' },
      },
    }),
  ),
);
after(() => s3.destroy());

const read = reader(s3, Bucket);

test('an object is put, read, listed, copied and deleted', async () => {
  const Body = randomBytes(100_000);
  const put = await s3.send(new PutObjectCommand({ Bucket, Key: 'a/b', Body }));
  assert.deepEqual([put.Expiration, put.VersionId], ['NotImplemented', undefined]);
  assert.deepEqual(await read('a/b'), Body);
  const page = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'a/' }));
  assert.deepEqual(page.Contents.map((entry) => entry.Key), ['a/b']);
  await s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/a/b` }));
  assert.deepEqual(await read('copy'), Body);
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'copy' }));
  await assert.rejects(s3.send(new HeadObjectCommand({ Bucket, Key: 'copy' })), { name: 'NotFound' });
});

test('an object grows', async () => {
  let whole = Buffer.alloc(0);
  for (let number = 0; number < 20; number += 1) {
    const piece = randomBytes(1 + number * 100);
    const put = await s3.send(
      new PutObjectCommand({ Bucket, Key: 'log', Body: piece, WriteOffsetBytes: whole.length }),
    );
    whole = Buffer.concat([whole, piece]);
    assert.equal(put.Size, number === 0 ? undefined : whole.length);
  }
  assert.deepEqual(await read('log'), whole);
  await assert.rejects(
    s3.send(new PutObjectCommand({ Bucket, Key: 'log', Body: 'x', WriteOffsetBytes: 1 })),
    { name: 'InvalidWriteOffset' },
  );
});
