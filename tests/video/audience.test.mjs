// @googleapis/youtube, unmodified, through what people say and do: comments, captions, sections, subscriptions, activities, members, reports.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Readable } from 'node:stream';

import { alice, anyone, bob, carol, here, refused } from './client.mjs';
import { mp4 } from './movie.mjs';

const [ALICE, BOB, CAROL] = ['UCaliceAliceAliceAlice0A', 'UCbobBobBobBobBobBobBo0A', 'UCcarolCarolCarolCaro0AA'];

const upload = async (api, title) => {
  const { data } = await api.videos.insert(
    {
      part: ['snippet', 'status'],
      requestBody: { snippet: { title, categoryId: '22' }, status: { privacyStatus: 'public' } },
      media: { mimeType: 'video/mp4', body: Readable.from([mp4({ payload: 1000 })]) },
    },
    here,
  );
  return data.id;
};

// Items of all pages, whose number is the total.
const pages = async (resource, query) => {
  const found = [];
  let pageToken;
  do {
    const { data } = await resource.list({ ...query, pageToken });
    found.push(...data.items);
    pageToken = data.nextPageToken;
    if (!pageToken) assert.equal(data.pageInfo.totalResults, found.length);
  } while (pageToken);
  return found;
};

const open = async (api, about, text) => {
  const requestBody = { snippet: { ...about, topLevelComment: { snippet: { textOriginal: text } } } };
  return (await api.commentThreads.insert({ part: ['id', 'snippet'], requestBody })).data.id;
};

const reply = async (api, parentId, text) => {
  const requestBody = { snippet: { parentId, textOriginal: text } };
  return (await api.comments.insert({ part: ['id', 'snippet'], requestBody })).data.id;
};

test('threads and replies are written, paged, changed, moderated and deleted', async () => {
  const videoId = await upload(alice, 'Talked about');
  const threads = [];
  for (const number of [1, 2, 3, 4, 5]) threads.push(await open(bob, { videoId }, `otter ${number}`));
  const replies = [];
  for (const number of [1, 2, 3, 4, 5, 6]) replies.push(await reply(alice, threads[0], `reply ${number}`));
  const listed = await pages(anyone.commentThreads, { part: ['id', 'snippet', 'replies'], videoId, maxResults: 2 });
  assert.deepEqual(listed.map((item) => item.id), threads.toReversed());
  assert.equal(listed.at(-1).snippet.totalReplyCount, 6);
  assert.equal(listed.at(-1).replies.comments.length, 5);
  const all = await pages(anyone.comments, { part: ['id', 'snippet'], parentId: threads[0], maxResults: 4 });
  assert.deepEqual(all.map((item) => item.id).sort(), replies.toSorted());
  const found = await pages(anyone.commentThreads, { part: ['id'], videoId, searchTerms: 'otter 3' });
  assert.deepEqual(found.map((item) => item.id), [threads[2]]);

  const { data: changed } = await bob.comments.update({
    part: ['snippet'],
    requestBody: { id: threads[1], snippet: { textOriginal: '<b>heron</b>' } },
  });
  assert.equal(changed.snippet.textDisplay, '&lt;b&gt;heron&lt;/b&gt;');
  await refused(
    carol.comments.update({ part: ['snippet'], requestBody: { id: threads[1], snippet: { textOriginal: 'x' } } }),
    403,
    'forbidden',
  );
  const held = { id: [threads[1], threads[2]], moderationStatus: 'heldForReview' };
  await refused(bob.comments.setModerationStatus(held), 403, 'forbidden');
  assert.equal((await alice.comments.setModerationStatus(held)).status, 204);
  const waiting = await pages(alice.commentThreads, { part: ['id'], videoId, moderationStatus: 'heldForReview', maxResults: 1 });
  assert.equal(waiting.length, 2);
  assert.equal((await bob.comments.delete({ id: threads[0] })).status, 204);
  const left = await pages(anyone.commentThreads, { part: ['id'], videoId });
  assert.deepEqual(left.map((item) => item.id), [threads[4], threads[3]]);
  const { data: video } = await anyone.videos.list({ part: ['statistics'], id: [videoId] });
  assert.equal(video.items[0].statistics.commentCount, '2');
  await refused(alice.comments.markAsSpam({ id: [threads[4]] }), 410, 'deleted');
});

test('a track is uploaded, listed, changed, downloaded in its formats and deleted', async () => {
  const videoId = await upload(alice, 'Spoken');
  const srt = '1\n00:00:01,000 --> 00:00:02,000\nHello\nworld\n';
  const { data: made } = await alice.captions.insert(
    {
      part: ['id', 'snippet'],
      requestBody: { snippet: { videoId, language: 'en', name: 'node', isDraft: true } },
      media: { mimeType: 'application/octet-stream', body: Readable.from([srt]) },
    },
    here,
  );
  assert.deepEqual([made.snippet.status, made.snippet.isDraft], ['serving', true]);
  const { id } = made;
  const tracks = async (api) => (await api.captions.list({ part: ['id'], videoId })).data.items.map((item) => item.id);
  assert.deepEqual([await tracks(alice), await tracks(bob)], [[id], []]);
  await alice.captions.update({ part: ['snippet'], requestBody: { id, snippet: { isDraft: false } } }, here);
  assert.deepEqual(await tracks(bob), [id]);
  const text = async (more) => {
    const { data } = await alice.captions.download({ id, ...more }, { responseType: 'text' });
    return typeof data === 'string' ? data : Buffer.from(await data.arrayBuffer()).toString();
  };
  assert.equal(await text({}), srt);
  assert.match(await text({ tfmt: 'vtt' }), /^WEBVTT[^]*00:01\.000 --> [^]*Hello\nworld/);
  assert.equal(await text({ tlang: 'en' }), srt);
  const other = srt.replace('world', 'moon');
  await alice.captions.update(
    { part: ['id'], requestBody: { id }, media: { mimeType: 'application/octet-stream', body: Readable.from([other]) } },
    here,
  );
  assert.equal(await text({}), other);
  assert.equal((await alice.captions.delete({ id })).status, 204);
  assert.deepEqual(await tracks(alice), []);
});

test('sections are arranged, and subscriptions are listed from both sides', async () => {
  const { data: list } = await bob.playlists.insert({ part: ['snippet'], requestBody: { snippet: { title: 'List' } } });
  const insert = async (requestBody) =>
    (await bob.channelSections.insert({ part: ['snippet', 'contentDetails'], requestBody })).data.id;
  const one = await insert({ snippet: { type: 'singlePlaylist' }, contentDetails: { playlists: [list.id] } });
  const two = await insert({ snippet: { type: 'multipleChannels', title: 'Friends', position: 0 }, contentDetails: { channels: [ALICE] } });
  const order = async (api, filter) =>
    (await api.channelSections.list({ part: ['snippet'], ...filter })).data.items.map((item) => item.id);
  assert.deepEqual(await order(bob, { mine: true }), [two, one]);
  await bob.channelSections.update({
    part: ['snippet'],
    requestBody: { id: two, snippet: { type: 'multipleChannels', title: 'Friends', position: 1 } },
  });
  assert.deepEqual(await order(bob, { mine: true }), [one, two]);
  assert.deepEqual(await order(anyone, { channelId: BOB }), []);
  for (const id of [one, two]) assert.equal((await bob.channelSections.delete({ id })).status, 204);

  const subscribe = (api, channelId) =>
    api.subscriptions.insert({
      part: ['snippet', 'contentDetails'],
      requestBody: { snippet: { resourceId: { kind: 'youtube#channel', channelId } } },
    });
  const { data: made } = await subscribe(bob, ALICE);
  await subscribe(bob, CAROL);
  await refused(subscribe(bob, ALICE), 400, 'subscriptionDuplicate');
  const own = await pages(bob.subscriptions, { part: ['snippet'], mine: true, order: 'alphabetical', maxResults: 1 });
  assert.deepEqual(own.map((item) => item.snippet.title), ['Alice', 'Carol']);
  const subscribers = await pages(alice.subscriptions, { part: ['subscriberSnippet'], mySubscribers: true, maxResults: 1 });
  assert.deepEqual(subscribers.map((item) => item.subscriberSnippet.title), ['Bob']);
  await refused(alice.subscriptions.delete({ id: made.id }), 403, 'subscriptionForbidden');
  assert.equal((await bob.subscriptions.delete({ id: made.id })).status, 204);
});

test('activities, members, levels and reports', async () => {
  const videoId = await upload(carol, 'Done');
  await carol.videos.rate({ id: videoId, rating: 'like' });
  const thread = await open(carol, { videoId }, 'own');
  const kinds = async (api, query) =>
    (await pages(api.activities, { part: ['snippet', 'contentDetails'], maxResults: 1, ...query })).map((item) => item.snippet.type);
  assert.deepEqual((await kinds(carol, { mine: true })).sort(), ['comment', 'like', 'upload']);
  assert.deepEqual((await kinds(anyone, { channelId: CAROL })).sort(), ['comment', 'upload']);
  await carol.comments.delete({ id: thread });
  assert.deepEqual(await kinds(anyone, { channelId: CAROL }), ['upload']);

  const { data: levels } = await alice.membershipsLevels.list({ part: ['snippet'] });
  assert.deepEqual(levels.items.map((item) => item.snippet.levelDetails.displayName), ['Tin', 'Gold']);
  const { data: members } = await alice.members.list({ part: ['snippet'], maxResults: 10 });
  assert.deepEqual(members.items.map((item) => item.snippet.memberDetails.displayName), ['Carol', 'Bob']);
  const { data: updates } = await alice.members.list({ part: ['snippet'], mode: 'updates' });
  assert.deepEqual([updates.items, typeof updates.nextPageToken], [[], 'string']);
  await refused(bob.members.list({ part: ['snippet'] }), 403, 'insufficientPermissions');

  const { data: reasons } = await bob.videoAbuseReportReasons.list({ part: ['snippet'] });
  const reason = reasons.items.find((item) => item.snippet.secondaryReasons);
  const report = (more) =>
    bob.videos.reportAbuse({
      requestBody: { videoId, reasonId: reason.id, secondaryReasonId: reason.snippet.secondaryReasons[0].id, ...more },
    });
  assert.equal((await report({})).status, 204);
  await refused(report({ reasonId: 'none' }), 400, 'invalidAbuseReason');
});
