// The interface as a client of it: with the API key of the seed file, or as the account that the user acts as.

import { Refused, address, ask } from './client.js';
import { element } from './dom.js';

const who = { account: '', token: undefined, key: undefined };

/** Sets the account that requests are made as; none is anybody. */
export function actAs(account) {
  if (account === who.account) return;
  [who.account, who.token] = [account, undefined];
}

/** The account that requests are made as. */
export function actor() {
  return who.account;
}

/** Remembers the first key among credentials, and gives them back. */
export function keys(credentials) {
  who.key ??= credentials.find(({ kind }) => kind === 'key')?.text;
  return credentials;
}

/** The fields of a request that say who makes it. */
export async function authorized(signal) {
  if (who.account) {
    who.token ??= (await ask('/_ops/accessTokens', { method: 'POST', json: { account: who.account }, signal })).token;
    return { authorization: `Bearer ${who.token}` };
  }
  who.key ??= (await ask('/_ops/credentials', { signal })).apiKeys[0]?.key;
  if (!who.key) throw new Refused(403, { code: 'forbidden', message: 'There is no API key that this page knows: say above which account to act as.' });
  return { 'x-goog-api-key': who.key };
}

/** The answer of an operation. A token that ended, or that a moved clock ended, is replaced once. */
export async function api(path, parameters, { method = 'GET', json, signal } = {}) {
  const target = address(`/youtube/v3/${path}`, parameters);
  try {
    return await ask(target, { method, json, signal, headers: await authorized(signal) });
  } catch (error) {
    if (error.status !== 401 || !who.token) throw error;
    who.token = undefined;
    return ask(target, { method, json, signal, headers: await authorized(signal) });
  }
}

/** A picture of the service. Its address may be the one behind a proxy; here the path counts, with the key of what is not for everybody. */
export function picture(thumbnails, kind = 'picture') {
  const { url } = thumbnails?.medium ?? thumbnails?.default ?? {};
  if (!url) return undefined;
  const { pathname, search } = new URL(url);
  return element('img', { class: kind, src: pathname + search, alt: '', loading: 'lazy' });
}

/** One page of a list with its tokens, as the frame takes it. */
export async function page(path, parameters, { signal }, finish = (items) => items) {
  const answer = await api(path, parameters, { signal });
  return { rows: await finish(answer.items ?? []), next: answer.nextPageToken, previous: answer.prevPageToken, total: answer.pageInfo?.totalResults };
}

/** Resources of these ids, in their order; those that the caller does not see are left out. */
export async function byIds(path, ids, parameters, { signal }) {
  if (ids.length === 0) return [];
  const { items = [] } = await api(path, { ...parameters, id: ids.join(','), maxResults: 50 }, { signal });
  return ids.map((id) => items.find((item) => item.id === id)).filter((item) => item !== undefined);
}
