// @googleapis/youtube, unmodified: every resource, its own multipart dialect, and its errors.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Readable } from 'node:stream';

import { png } from './api.mjs';
import { alice, anyone, bearer, bob, client, here, refused } from './client.mjs';
import { mp4 } from './movie.mjs';

// A stream of unknown length, as a file that is being read: the client then sends chunks.
const stream = (bytes) => Readable.from([bytes]);

const insertVideo = async (title, more = {}) => {
  const { status, data } = await alice.videos.insert(
    {
      part: ['snippet', 'status'],
      requestBody: { snippet: { title, categoryId: '22', tags: ['node'] }, status: { privacyStatus: 'public', ...more } },
      media: { mimeType: 'video/mp4', body: stream(mp4({ payload: 300_000 })) },
    },
    here,
  );
  assert.equal(status, 200);
  return data.id;
};

test('a channel is listed by each of its filters and its branding is updated', async () => {
  const { data: mine } = await alice.channels.list({ part: ['snippet,contentDetails', 'statistics'], mine: true });
  const [channel] = mine.items;
  assert.equal(channel.snippet.title, 'Alice');
  for (const filter of [{ id: [channel.id] }, { forHandle: '@alice' }]) {
    const { data } = await anyone.channels.list({ part: ['id'], ...filter });
    assert.deepEqual(data.items.map((item) => item.id), [channel.id]);
  }
  const { data: changed } = await alice.channels.update({
    part: ['brandingSettings'],
    requestBody: { id: channel.id, brandingSettings: { channel: { description: 'Films by node', keywords: 'a b' } } },
  });
  assert.equal(changed.brandingSettings.channel.description, 'Films by node');
  const { data: seen } = await anyone.channels.list({ part: ['snippet', 'brandingSettings'], id: [channel.id] });
  assert.equal(seen.items[0].snippet.description, 'Films by node');
  await refused(
    bob.channels.update({ part: ['brandingSettings'], requestBody: { id: channel.id, brandingSettings: { channel: {} } } }),
    403,
    'channelForbidden',
  );
});

test('a banner goes up in three steps', async () => {
  const { data: banner } = await alice.channelBanners.insert(
    { media: { mimeType: 'image/png', body: stream(png(2560, 1440)) } },
    here,
  );
  assert.equal(banner.kind, 'youtube#channelBannerResource');
  const { data: mine } = await alice.channels.list({ part: ['id'], mine: true });
  const { data: changed } = await alice.channels.update({
    part: ['brandingSettings'],
    requestBody: { id: mine.items[0].id, brandingSettings: { image: { bannerExternalUrl: banner.url } } },
  });
  assert.equal(changed.brandingSettings.image.bannerExternalUrl, banner.url);
  const picture = await fetch(banner.url);
  assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/jpeg']);
});

test('a video is inserted, listed, updated, rated and deleted', async () => {
  const id = await insertVideo('Node film');
  const list = async (part, client = anyone) => (await client.videos.list({ part, id: [id] })).data.items;
  const [made] = await list(['snippet', 'status', 'statistics', 'player']);
  assert.deepEqual([made.snippet.title, made.snippet.tags, made.status.privacyStatus], ['Node film', ['node'], 'public']);
  assert.match(made.player.embedHtml, /<iframe/);

  // A part that is named is overwritten whole: tags that are left out are gone.
  const { data: changed } = await alice.videos.update({
    part: ['snippet'],
    requestBody: { id, snippet: { title: 'Node film, again', categoryId: '10' } },
  });
  assert.deepEqual([changed.snippet.title, changed.snippet.categoryId, changed.snippet.tags], ['Node film, again', '10', undefined]);
  await refused(
    bob.videos.update({ part: ['snippet'], requestBody: { id, snippet: { title: 'Mine', categoryId: '10' } } }),
    403,
    'forbidden',
  );

  assert.equal((await bob.videos.rate({ id, rating: 'like' })).status, 204);
  const { data: ratings } = await bob.videos.getRating({ id: [id, 'none'] });
  assert.equal(ratings.items.find((item) => item.videoId === id).rating, 'like');
  assert.equal((await list(['statistics']))[0].statistics.likeCount, '1');
  const { data: liked } = await bob.videos.list({ part: ['id'], myRating: 'like' });
  assert.deepEqual(liked.items.map((item) => item.id), [id]);
  await bob.videos.rate({ id, rating: 'none' });
  assert.equal((await list(['statistics']))[0].statistics.likeCount, '0');

  await refused(list(['fileDetails']), 403, 'forbidden');
  const [details] = await list(['fileDetails', 'contentDetails'], alice);
  assert.equal(details.fileDetails.fileSize, String(mp4({ payload: 300_000 }).length));
  assert.deepEqual([details.contentDetails.duration, details.contentDetails.definition], ['PT12S', 'hd']);
  assert.equal((await alice.videos.delete({ id })).status, 204);
  assert.deepEqual(await list(['id']), []);
  await refused(alice.videos.delete({ id }), 404, 'videoNotFound');
});

test('a thumbnail and a watermark are set, shown and unset', async () => {
  const videoId = await insertVideo('With pictures');
  const { data } = await alice.thumbnails.set({ videoId, media: { mimeType: 'image/png', body: stream(png(640, 360)) } }, here);
  const sizes = Object.values(data.items[0]);
  assert.ok(sizes.length >= 3);
  for (const { url } of sizes) assert.equal((await fetch(url)).headers.get('content-type'), 'image/jpeg');

  const channelId = (await alice.channels.list({ part: ['id'], mine: true })).data.items[0].id;
  const timing = { type: 'offsetFromStart', offsetMs: '1000', durationMs: '5000' };
  const set = await alice.watermarks.set(
    { channelId, requestBody: { timing }, media: { mimeType: 'image/png', body: stream(png(150, 150)) } },
    here,
  );
  assert.equal(set.status, 204);
  assert.equal((await alice.watermarks.unset({ channelId })).status, 204);
  await refused(bob.watermarks.unset({ channelId }), 403, 'forbidden');
});

test('a playlist is made, filled, ordered, changed and deleted', async () => {
  const { data: playlist } = await alice.playlists.insert({
    part: ['snippet', 'status'],
    requestBody: { snippet: { title: 'Node list', description: 'a' }, status: { privacyStatus: 'unlisted' } },
  });
  const playlistId = playlist.id;
  const videos = [await insertVideo('First'), await insertVideo('Second'), await insertVideo('Third')];
  const items = [];
  for (const videoId of videos) {
    const { data } = await alice.playlistItems.insert({
      part: ['snippet'],
      requestBody: { snippet: { playlistId, position: 0, resourceId: { kind: 'youtube#video', videoId } } },
    });
    items.push(data.id);
  }
  const titles = async () => {
    const { data } = await anyone.playlistItems.list({ part: ['snippet'], playlistId, maxResults: 50 });
    assert.deepEqual(data.items.map((item) => item.snippet.position), data.items.map((_, at) => at));
    return data.items.map((item) => item.snippet.title);
  };
  assert.deepEqual(await titles(), ['Third', 'Second', 'First']);
  await alice.playlistItems.update({
    part: ['snippet'],
    requestBody: { id: items[2], snippet: { playlistId, position: 2, resourceId: { kind: 'youtube#video', videoId: videos[2] } } },
  });
  assert.deepEqual(await titles(), ['Second', 'First', 'Third']);
  assert.equal((await alice.playlistItems.delete({ id: items[0] })).status, 204);
  assert.deepEqual(await titles(), ['Second', 'Third']);

  const { data: changed } = await alice.playlists.update({
    part: ['snippet', 'status'],
    requestBody: { id: playlistId, snippet: { title: 'Node list 2' }, status: { privacyStatus: 'public' } },
  });
  assert.deepEqual([changed.snippet.title, changed.snippet.description, changed.status.privacyStatus], ['Node list 2', '', 'public']);
  const { data: listed } = await anyone.playlists.list({ part: ['contentDetails'], id: [playlistId] });
  assert.equal(listed.items[0].contentDetails.itemCount, 2);
  assert.equal((await alice.playlists.delete({ id: playlistId })).status, 204);
  await refused(anyone.playlistItems.list({ part: ['id'], playlistId }), 404, 'playlistNotFound');
});

test('likes and uploads are playlists', async () => {
  const id = await insertVideo('Liked as an item');
  const { data } = await bob.channels.list({ part: ['contentDetails'], mine: true });
  const { likes } = data.items[0].contentDetails.relatedPlaylists;
  await bob.playlistItems.insert({
    part: ['snippet'],
    requestBody: { snippet: { playlistId: likes, resourceId: { kind: 'youtube#video', videoId: id } } },
  });
  assert.equal((await bob.videos.getRating({ id: [id] })).data.items[0].rating, 'like');
  const { data: channels } = await anyone.channels.list({ part: ['contentDetails'], forHandle: 'alice' });
  const { uploads } = channels.items[0].contentDetails.relatedPlaylists;
  const { data: listed } = await anyone.playlistItems.list({ part: ['contentDetails'], playlistId: uploads, maxResults: 50 });
  assert.equal(listed.items[0].contentDetails.videoId, id, 'the latest upload comes first');
});

test('search finds videos, channels and playlists, in pages', async () => {
  for (const number of [1, 2, 3]) await insertVideo(`Quokka ${number}`);
  await insertVideo('Quokka hidden', { privacyStatus: 'private' });
  await alice.playlists.insert({ part: ['snippet'], requestBody: { snippet: { title: 'Quokka songs' } } });
  const search = async (more, client = anyone) => (await client.search.list({ part: ['snippet'], q: 'quokka', ...more })).data;
  const all = await search({ maxResults: 50 });
  assert.equal(all.pageInfo.totalResults, 4);
  assert.deepEqual(new Set(all.items.map((item) => item.id.kind)), new Set(['youtube#video', 'youtube#playlist']));
  const first = await search({ type: ['video'], order: 'date', maxResults: 2 });
  const second = await search({ type: ['video'], order: 'date', maxResults: 2, pageToken: first.nextPageToken });
  assert.deepEqual(
    [...first.items, ...second.items].map((item) => item.snippet.title),
    ['Quokka 3', 'Quokka 2', 'Quokka 1'],
  );
  assert.equal(second.nextPageToken, undefined);
  assert.equal((await search({ type: ['video'], forMine: true }, alice)).pageInfo.totalResults, 4);
  const { data: channels } = await anyone.search.list({ part: ['snippet'], q: 'alice', type: ['channel'] });
  assert.equal(channels.items[0].snippet.channelTitle, 'Alice');
  await refused(search({ videoDuration: 'short' }), 400, 'invalidSearchFilter');
});

test('languages, regions and categories are there', async () => {
  const { data: languages } = await anyone.i18nLanguages.list({ part: ['snippet'] });
  assert.ok(languages.items.some((item) => item.id === 'de' && item.snippet.name === 'German'));
  const { data: regions } = await anyone.i18nRegions.list({ part: ['snippet'] });
  assert.ok(regions.items.some((item) => item.id === 'JP' && item.snippet.gl === 'JP'));
  const { data: categories } = await anyone.videoCategories.list({ part: ['snippet'], regionCode: 'US' });
  assert.ok(categories.items.some((item) => item.id === '10' && item.snippet.title === 'Music'));
});

test('fields, etags and parameters work as the client sends them', async () => {
  const id = await insertVideo('Masked');
  const masked = await anyone.videos.list({ part: ['snippet', 'status'], id: [id], fields: 'items(id,snippet/title)' });
  assert.deepEqual(masked.data, { items: [{ id, snippet: { title: 'Masked' } }] });
  const whole = await anyone.videos.list({ part: ['snippet'], id: [id] });
  assert.equal(whole.data.etag.length, 27);
  const again = await anyone.videos
    .list({ part: ['snippet'], id: [id] }, { headers: { 'If-None-Match': whole.data.etag } })
    .then((response) => response.status, (error) => error.status);
  assert.equal(again, 304);
  const two = await anyone.videos.list({ part: ['id'], id: [id, 'none'].join(',') });
  assert.equal(two.data.items.length, 1);
});

test('refusals come as errors with the reason of the interface', async () => {
  const video = { part: ['snippet'], id: ['x'] };
  await refused(client('no-such-key').videos.list(video), 400, 'keyInvalid');
  await refused(client().videos.list(video), 403, 'forbidden');
  await refused(bearer('no-such-token').videos.list(video), 401, 'authError');
  await refused(anyone.playlists.insert({ part: ['snippet'], requestBody: { snippet: { title: 'No' } } }), 401, 'required');
  await refused(anyone.channels.list({ part: ['snippet'] }), 400, 'missingRequiredParameter');
  await refused(anyone.videos.list({ part: ['snippet'], chart: 'worst' }), 400, 'invalidParameter');
  await refused(anyone.videos.list({ part: ['nothing'], id: ['x'] }), 400, 'unknownPart');
  await refused(alice.playlists.insert({ part: ['snippet'], requestBody: { snippet: {} } }), 400, 'playlistTitleRequired');
  await refused(anyone.commentThreads.list({ part: ['id'], videoId: 'x' }), 404, 'videoNotFound');
});
