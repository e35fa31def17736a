// Requests of the page to its service. The admin token of a service on another machine is kept in memory alone.

import { askFor } from './dialog.js';

const admin = { token: undefined, asked: undefined };

/** The admin token that the user types; requests that wait for it at once ask once. */
function askedToken() {
  admin.asked ??= askFor('Admin token',
    'From another machine this page needs the admin token of the service: --admin-token, or the file admin-token of its data directory.');
  return admin.asked.finally(() => { admin.asked = undefined; });
}

/** How a service words its errors: a function of status and text, which `service.js` sets. */
export const reading = { error: (status, text) => ({ code: String(status), message: text.slice(0, 500) }) };

/** A refusal of the service, in its own words. */
export class Refused extends Error {
  constructor(status, { code, message }) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The service that does not answer at all. */
export class Unreachable extends Error {}

function headersOf(path, headers) {
  const own = path.startsWith('/_ops/') && admin.token ? { authorization: `Bearer ${admin.token}` } : {};
  return { ...own, ...headers };
}

/** The response to a request, whatever it says, once an admin token was given where one is needed. */
export async function request(path, { method = 'GET', headers = {}, body, signal } = {}) {
  for (;;) {
    const response = await fetch(path, { method, headers: headersOf(path, headers), body, signal, cache: 'no-store' }).catch((error) => {
      if (error.name === 'AbortError') throw error;
      throw new Unreachable('The service does not answer. It may have been stopped; this page goes on once it is there again.');
    });
    if (response.status !== 401 || !path.startsWith('/_ops/')) return response;
    const token = await askedToken();
    if (token === undefined) return response;
    admin.token = token;
  }
}

/** The answer to a request: an object where it is JSON, else its text. A refusal is thrown. */
export async function ask(path, { json, ...options } = {}) {
  const written = json === undefined ? {} : { body: JSON.stringify(json), headers: { 'content-type': 'application/json', ...options.headers } };
  const response = await request(path, { ...options, ...written });
  const text = await response.text();
  if (!response.ok) throw new Refused(response.status, reading.error(response.status, text));
  return (response.headers.get('content-type') ?? '').includes('json') ? JSON.parse(text) : text;
}

/** An address with parameters; those without a value are left out. */
export function address(path, parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== '') query.set(name, value);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}
