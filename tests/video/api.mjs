// Plain requests to the service under test, and the things that tests of pages put into it.

import { crc32, deflateSync } from 'node:zlib';

export const URL_OF_SERVICE = process.env.TRIPTYCH_VIDEO_URL;
export const ALICE = process.env.TRIPTYCH_VIDEO_TOKEN;
export const BOB = 'bob-token';
export const ALICE_CHANNEL = 'UCaliceAliceAliceAlice0A';

/** The answer to a request; one that is refused is an error with the service's words. */
export async function call(method, path, { token = ALICE, json, body, type } = {}) {
  const headers = { authorization: `Bearer ${token}` };
  if (json !== undefined || type) headers['content-type'] = type ?? 'application/json';
  const response = await fetch(`${URL_OF_SERVICE}${path}`, { method, headers, body: json === undefined ? body : JSON.stringify(json) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

/** Uploads a file with what is said about it. */
export function upload(path, metadata, type, file, token = ALICE) {
  const parts = [
    '--B\r\nContent-Type: application/json\r\n\r\n', JSON.stringify(metadata), `\r\n--B\r\nContent-Type: ${type}\r\n\r\n`, file, '\r\n--B--',
  ];
  const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return call('POST', `/upload/youtube/v3/${path}&uploadType=multipart`, { token, body, type: 'multipart/related; boundary=B' });
}

/** A picture of one colour. */
export function png(width, height, [red, green, blue] = [200, 30, 90]) {
  const chunk = (name, body) => {
    const named = Buffer.concat([Buffer.from(name), body]);
    const out = Buffer.alloc(named.length + 8);
    out.writeUInt32BE(body.length, 0);
    named.copy(out, 4);
    out.writeUInt32BE(crc32(named), named.length + 4);
    return out;
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const row = Buffer.concat([Buffer.from([0]), Buffer.alloc(3 * width, Buffer.from([red, green, blue]))]);
  const rows = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)));
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

/** A public video of Alice's; gives its id. */
export async function video(title, file, { type = 'video/webm', status = {}, description = '' } = {}) {
  const metadata = { snippet: { title, categoryId: '22', description }, status: { privacyStatus: 'public', ...status } };
  const { id } = await upload('videos?part=snippet,status', metadata, type, file);
  return id;
}

/** A track of captions; gives its id. */
export async function captions(videoId, text, { language = 'en', name = '', isDraft = false } = {}) {
  const metadata = { snippet: { videoId, language, name, isDraft } };
  const { id } = await upload('captions?part=snippet', metadata, 'text/vtt', text);
  return id;
}

/** A thread about a video; gives its id. */
export async function thread(videoId, textOriginal, token = BOB) {
  const json = { snippet: { channelId: ALICE_CHANNEL, videoId, topLevelComment: { snippet: { textOriginal } } } };
  const { id } = await call('POST', '/youtube/v3/commentThreads?part=snippet', { token, json });
  return id;
}

/** A control call. */
export async function control(method, path, json) {
  const response = await fetch(`${URL_OF_SERVICE}/_ops/${path}`, { method, body: json && JSON.stringify(json) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text && JSON.parse(text);
}
