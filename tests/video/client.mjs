// @googleapis/youtube, unmodified, as the people of the seed file and as anybody, and what its tests have in common.

import assert from 'node:assert/strict';

import { auth, youtube } from '@googleapis/youtube';

const rootUrl = `${process.env.TRIPTYCH_VIDEO_URL}/`;

/** The client sends uploads to its own host unless each call is told otherwise, so `rootUrl` stands twice. */
export const here = { rootUrl };

/** A client with a key, with credentials, or with nothing. */
export const client = (identity) => youtube({ version: 'v3', auth: identity, rootUrl });

/** A client with an access token. */
export const bearer = (token) => {
  const credentials = new auth.OAuth2();
  credentials.setCredentials({ access_token: token });
  return client(credentials);
};

export const [alice, bob, carol] = [process.env.TRIPTYCH_VIDEO_TOKEN, 'bob-token', 'carol-token'].map(bearer);
export const anyone = client(process.env.TRIPTYCH_VIDEO_API_KEY);

/** The detail of a refusal, whose status and reason are these. */
export const refused = async (call, status, reason) => {
  const error = await call.then(
    () => assert.fail('it was not refused'),
    (error) => error,
  );
  assert.equal(Number(error.status ?? error.code), status, error.message);
  const [first] = error.response.data.error.errors;
  assert.equal(first.reason, reason);
  assert.equal(error.response.data.error.code, status);
  return first;
};
