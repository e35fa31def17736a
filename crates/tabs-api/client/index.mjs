// Entry: one connected extension, seen as `browser` and `chrome`.

import { Connection } from './connection.mjs';
import { ContentScript } from './content.mjs';
import { namespaces } from './namespace.mjs';

/**
 * Connects as the extension that the token belongs to.
 *
 * `browser` answers every call with a promise. `chrome` does too under manifest version 3, and takes callbacks with
 * `runtime.lastError` under any. Events and answers arrive in the engine's order, each in a task of its own.
 */
export async function createBrowser({ url, token, controlToken, context } = {}) {
  const base = String(url).replace(/\/+$/, '');
  const reply = await fetch(`${base}/v1/schema`, { headers: { Authorization: `Bearer ${token}` } });
  if (!reply.ok) throw new Error(`${base}/v1/schema answered ${reply.status}: ${await reply.text()}`);
  const schema = await reply.json();
  const connection = await Connection.open({ base, token, context });
  const make = (always) => namespaces({ schema, connection, promisesAlways: always });
  const [browser, chrome] = [make(true), make(false)];
  const { runtime } = chrome;
  return {
    browser,
    chrome,
    /** Attaches a content script to a frame of a tab: the other side of `connect` and `sendMessage`. */
    attach: (frame) => ContentScript.attach(connection, runtime, frame),
    /** Plays the content scripts of the manifest: `run(script)` for each document that they match, now and later. */
    contentScripts: (run) => connection.playScripts((place) => run(new ContentScript(connection, runtime, place))),
    /** Tells of events that were missed (`{ missed }`), and of a reset (`{ reset: true }`). */
    onGap: connection.onGap,
    /** Does what a user or a page would do; needs the control token. */
    control: (command) => control(base, controlToken, command),
    /** Ends the connection; calls under way are rejected. */
    close: () => connection.close(),
  };
}

async function control(base, token, command) {
  const reply = await fetch(`${base}/v1/control`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(command),
  });
  const body = await reply.json();
  if (!reply.ok) throw new Error(body.error?.message ?? `control was answered ${reply.status}`);
  return body.result;
}
