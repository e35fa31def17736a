// @aws-sdk/lib-storage, unmodified: a stream of unknown length goes up in parts and comes back.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { test } from "node:test";

import { GetObjectCommand, HeadObjectCommand } from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";

import { client } from "./sdk.mjs";

const s3 = client({ maxAttempts: 3 });
const MIB = 1024 * 1024;

test("a stream of unknown length goes up in parts and comes back", async () => {
  const content = randomBytes(11 * MIB + 5);
  const pieces = Array.from({ length: 12 }, (_, place) => content.subarray(place * MIB, (place + 1) * MIB));
  const params = { Bucket: "demo", Key: "lib-storage/stream", Body: Readable.from(pieces), Metadata: { own: "kept" } };
  const upload = new Upload({ client: s3, params, queueSize: 2, partSize: 5 * MIB });
  const done = await upload.done();
  assert.match(done.ETag, /-3"$/);
  const head = await s3.send(new HeadObjectCommand({ Bucket: "demo", Key: "lib-storage/stream" }));
  assert.deepEqual([head.ContentLength, head.Metadata], [content.length, { own: "kept" }]);
  const got = await s3.send(new GetObjectCommand({ Bucket: "demo", Key: "lib-storage/stream" }));
  assert.ok(content.equals(Buffer.from(await got.Body.transformToByteArray())));
});
