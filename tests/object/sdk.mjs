// @aws-sdk/client-s3 as the tests of the JavaScript SDK begin it.

import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';

export const client = (more = {}) =>
  new S3Client({
    endpoint: process.env.TRIPTYCH_OBJECT_URL,
    region: process.env.TRIPTYCH_OBJECT_REGION,
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: {
      accessKeyId: process.env.TRIPTYCH_OBJECT_ACCESS_KEY,
      secretAccessKey: process.env.TRIPTYCH_OBJECT_SECRET_KEY,
    },
    ...more,
  });

/** Reads an object's bytes. */
export const reader = (s3, Bucket) => async (Key) => {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from(await Body.transformToByteArray());
};
