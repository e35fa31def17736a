// @googleapis/youtube, unmodified: it walks as the clients of other languages do, as long as the environment says.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';

import { alice, here } from '../client.mjs';

const COUNT = Number(process.env.TRIPTYCH_WALK ?? 3);
const FILMS = Math.ceil(COUNT / 10);
const SIZE = COUNT > 50 ? 50 : 2;
const film = readFileSync(process.argv[2]);
const seen = { again: 0, writes: 0, pages: 0 };

const expect = (step, holds, ...found) => {
  assert.ok(holds, `${step}: ${JSON.stringify(found)}`);
  console.log(`ok ${step}`);
};

const words = createInterface({ input: process.stdin });
const nextWord = words[Symbol.asyncIterator]();

/** Calls until there is an answer. Where none came, waits for the word that the service is back; there is none where nobody has killed it. */
const answer = async (call) => {
  for (;; seen.again += 1) {
    try {
      return (await call()).data;
    } catch (error) {
      if (error.response?.status < 500) throw error;
      console.log('unanswered');
      if ((await nextWord.next()).done) throw error;
    }
  }
};

/** Writes so often, says when half is written, and keeps what was acknowledged. */
const write = async (times, one) => {
  const written = [];
  for (let number = 0; number < times; number += 1) {
    if (number === Math.floor(times / 2)) console.log('half');
    written.push(await answer(() => one(number)));
    seen.writes += 1;
  }
  return written;
};

/** A list, read to its end. */
const whole = async (resource, query) => {
  const items = [];
  let pageToken;
  do {
    const { data } = await alice[resource].list({ maxResults: SIZE, pageToken, ...query });
    seen.pages += 1;
    items.push(...data.items);
    pageToken = data.nextPageToken;
  } while (pageToken);
  return items;
};

const ids = (items) => items.map((item) => item.id);
const videoIds = (items) => items.map((item) => item.snippet.resourceId.videoId);
const channelIds = (items) => items.map((item) => item.snippet.resourceId.channelId);

/** Whether a list has each once of what was acknowledged, and beside it what was there before and at most what was written without an answer. */
const holds = (listed, written, before = [], unanswered = seen.again) => {
  const set = new Set(listed);
  const ours = [...written, ...before];
  const beside = listed.length - ours.length;
  return set.size === listed.length && ours.every((id) => set.has(id)) && beside >= 0 && beside <= unanswered;
};

/** What was written without an answer is refused the second time. */
const unlessRefused = async (reason, call) => {
  try {
    return await call();
  } catch (error) {
    if (seen.again && error.response?.data?.error?.errors?.[0]?.reason === reason) return {};
    throw error;
  }
};

const insert = (resource, snippet) => alice[resource].insert({ part: ['snippet'], requestBody: { snippet } });

const walkUploads = async () => {
  const { data } = await alice.channels.list({ part: ['contentDetails'], mine: true });
  const uploads = { part: ['snippet'], playlistId: data.items[0].contentDetails.relatedPlaylists.uploads };
  const upload = (title, body) =>
    alice.videos.insert(
      {
        part: ['snippet,status'],
        requestBody: { snippet: { title, categoryId: '22' } },
        media: { mimeType: 'video/mp4', body },
      },
      here,
    );
  const before = videoIds(await whole('playlistItems', uploads));
  const films = await write(FILMS, () => upload('Whole', Readable.from([film])));
  const listed = videoIds(await whole('playlistItems', uploads));
  const all = holds(listed, ids(films), before);
  expect('uploads at once', all && films.every((made) => made.status.uploadStatus === 'uploaded'), listed.length);
  return [data.items[0].id, ids(films)];
};

const walkSubscriptions = async (own) => {
  const members = (await whole('members', { part: ['snippet'] })).map((item) => item.snippet.memberDetails.channelId);
  const channels = (await whole('search', { part: ['snippet'], type: ['channel'] })).map((item) => item.id.channelId);
  const mine = () => whole('subscriptions', { part: ['snippet'], mine: true });
  const subscribe = (number) =>
    unlessRefused('subscriptionDuplicate', () =>
      insert('subscriptions', { resourceId: { kind: 'youtube#channel', channelId: members[number] } }),
    );
  await write(members.length, subscribe);
  const subscriptions = await mine();
  const every = holds(channels, members, [own], 0) && holds(channelIds(subscriptions), members, [], 0);
  const unsubscribe = (number) =>
    unlessRefused('subscriptionNotFound', () => alice.subscriptions.delete({ id: subscriptions[number].id }));
  await write(subscriptions.length, unsubscribe);
  expect('subscribes', every && (await mine()).length === 0, channels.length, members.length);
};

const lists = () => whole('playlists', { part: ['id'], mine: true });
let before = ids(await lists());
const made = await write(FILMS, () => insert('playlists', { title: "Node's" }));
expect('writes', made[0].snippet.title === "Node's" && holds(ids(await lists()), ids(made), before));

const [own, films] = await walkUploads();
const liked = () => whole('videos', { part: ['id'], myRating: 'like' });
before = ids(await liked());
await write(films.length, (number) => alice.videos.rate({ id: films[number], rating: 'like' }));
expect('rates', holds(ids(await liked()), films, before, 0));

const [playlistId] = ids(made);
const resourceId = { kind: 'youtube#video', videoId: films[0] };
const added = await write(COUNT, () => insert('playlistItems', { playlistId, resourceId }));
const read = seen.pages;
const items = await whole('playlistItems', { part: ['snippet'], playlistId });
const dense = items.every((item, at) => item.snippet.position === at);
const full = seen.pages - read === Math.ceil(items.length / SIZE);
expect('pages', dense && full && holds(ids(items), ids(added)), items.length, seen.pages - read);

const textOf = (textOriginal) => ({ snippet: { textOriginal } });
const threads = await write(COUNT, (number) =>
  insert('commentThreads', { videoId: films[0], topLevelComment: textOf(`Thread ${number}`) }),
);
const parentId = threads[0].id;
const replies = await write(COUNT, (number) => insert('comments', { parentId, textOriginal: `Reply ${number}` }));
const listed = await whole('commentThreads', { part: ['snippet'], videoId: films[0] });
const replied = await whole('comments', { part: ['snippet'], parentId });
expect('comments', holds(ids(listed), ids(threads)) && holds(ids(replied), ids(replies)), listed.length, replied.length);

await walkSubscriptions(own);
const done = ids(await whole('activities', { part: ['snippet'], mine: true }));
expect('activities', done.length >= COUNT && new Set(done).size === done.length, done.length);
const others = seen.writes - films.length;
console.log(`walked ${films.length} uploads, ${others} other writes, ${seen.pages} pages, ${seen.again} calls again`);
words.close();
