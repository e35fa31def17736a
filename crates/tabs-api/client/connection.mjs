// One WebSocket: calls out; answers, events and port messages in, in one order.

import { Event } from './event.mjs';
import { openSocket } from './socket.mjs';

const RECONNECTS_MAX = 5;

/** Lets the promise continuations of one frame run before the next frame is looked at, as in a browser. */
const nextTask = globalThis.setImmediate ?? ((task) => setTimeout(task, 0));

export class Connection {
  #options;
  #socket;
  #calls = new Map();
  #inbox = [];
  #isDraining = false;
  #isClosed = false;
  #nextId = 1;
  #nextPort = 1;
  #seq = 0;
  #session;
  #whenOpen;
  /** Who the service says we are: `{ id, manifest }`. */
  extension;
  /** What hears of events: `(name, args)`. */
  onEvent = new Set();
  /** What hears of the other frames, by content script or by port. */
  routes = new Map();
  /** What hears of each declared content script that begins to run. */
  onScript;
  /** Tells that events were missed, or that the browser was put back to its beginning. */
  onGap = new Event();

  static async open(options) {
    const connection = new Connection();
    connection.#options = options;
    await connection.#open();
    return connection;
  }

  #open() {
    const { base, token, context } = this.#options;
    const page = context?.tabId === undefined ? {} : { contextTabId: String(context.tabId) };
    const since = this.#session ? { since: String(this.#seq), session: this.#session } : {};
    this.#whenOpen = new Promise((resolve, reject) => {
      openSocket({
        url: `${base.replace(/^http/, 'ws')}/v1/ws`,
        token,
        query: { ...page, ...since },
        onOpen: (socket) => (this.#socket = socket),
        onText: (text) => this.#receive(JSON.parse(text), resolve),
        onClose: (reason) => {
          reject(new Error(reason));
          this.#lost(reason);
        },
      });
    });
    return this.#whenOpen;
  }

  /** Calls an operation; the promise is kept when the answer's turn has come. */
  call(method, params, extra = {}) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.send({ id, method, params, ...this.context, ...extra });
    });
  }

  /** Where calls come from, as a part of their frames. */
  get context() {
    const { context } = this.#options;
    return context && { context };
  }

  /** Plays the declared content scripts: `onScript` hears of each. */
  async playScripts(onScript) {
    this.onScript = onScript;
    await this.call(undefined, undefined, { type: 'scripts' });
  }

  /** Sends a frame once the connection stands. */
  send(frame) {
    const text = JSON.stringify(frame);
    this.#whenOpen.then(
      () => this.#socket.send(text),
      (error) => this.#settle(frame.id, (call) => call.reject(error)),
    );
  }

  /** A name for a port that this side opens. */
  portName() {
    return `c${this.#nextPort++}`;
  }

  close() {
    this.#isClosed = true;
    const end = () => this.#socket?.close();
    // What was sent before goes out before.
    this.#whenOpen.then(end, end);
  }

  #receive(frame, opened) {
    if (frame.type === 'hello') {
      this.extension = frame.extension;
      this.#seq = frame.seq ?? 0;
      this.#session = frame.session;
      opened();
      return;
    }
    this.#inbox.push(frame);
    if (!this.#isDraining) {
      this.#isDraining = true;
      nextTask(() => this.#drain());
    }
  }

  #drain() {
    const frame = this.#inbox.shift();
    if (this.#inbox.length > 0) nextTask(() => this.#drain());
    else this.#isDraining = false;
    if (frame.seq) this.#seq = frame.seq;
    this.#deliver(frame);
  }

  #deliver(frame) {
    switch (frame.type) {
      case 'result':
        return this.#settle(frame.id, (call) => call.resolve(frame.result));
      case 'error':
        return this.#settle(frame.id, (call) => call.reject(asError(frame.error)));
      case 'event':
        for (const listener of this.onEvent) listener(frame.name, frame.args);
        return undefined;
      case 'lagged':
      case 'reset':
        return this.onGap.trigger(frame.type === 'reset' ? { reset: true } : { missed: frame.missed });
      case 'script.run':
        return this.onScript?.(frame);
      default:
        return this.routes.get(frame.endpoint ?? frame.port)?.(frame);
    }
  }

  #settle(id, how) {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (call) how(call);
  }

  /** What hung on the old connection is gone with it; declared scripts run anew. */
  async #reopen() {
    await this.#open();
    if (this.onScript) await this.playScripts(this.onScript);
  }

  async #lost(reason) {
    const error = new Error(`The connection to tabs-api was lost: ${reason}`);
    for (const id of [...this.#calls.keys()]) this.#settle(id, (call) => call.reject(error));
    for (const hear of [...this.routes.values()]) hear({ type: 'gone' });
    this.routes.clear();
    if (this.#isClosed || this.extension === undefined) return;
    for (let attempt = 1; attempt <= RECONNECTS_MAX && !this.#isClosed; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 100 * attempt));
      try {
        return await this.#reopen();
      } catch {
        // The next attempt says more; after the last one every call is rejected with this reason.
      }
    }
  }
}

function asError({ kind, name, message }) {
  const isType = kind === 'throw' || name === 'TypeError';
  return isType ? new TypeError(message) : new Error(message);
}
