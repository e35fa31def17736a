// One WebSocket: calls out; answers, events and port messages in, in one order.

import { Event } from './event.mjs';
import { frameText } from './message.mjs';
import { openSocket } from './socket.mjs';

/** The waits between attempts to come back, in ms: half a minute in all, so that a restart of the service is survived. */
const RECONNECT_WAITS = [100, 200, 400, 800, 1500, ...Array.from({ length: 14 }, () => 2000)];

/** Lets the promise continuations of one frame run before the next frame is looked at, as in a browser. */
const nextTask = globalThis.setImmediate ?? ((task) => setTimeout(task, 0));

export class Connection {
  #options;
  /** The attempt or the open socket that counts; frames of any other one are passed over. */
  #link;
  /** The socket that frames are written to; none from a loss on until the service has greeted again. */
  #socket;
  /** Frames that wait for a socket: `{ id, text }`. */
  #outbox = [];
  #calls = new Map();
  #inbox = [];
  #isDraining = false;
  #isClosed = false;
  /** The reason for which no socket comes any more. */
  #end;
  /** Ends the wait before the next attempt. */
  #wake;
  #nextId = 1;
  #nextPort = 1;
  #seq = 0;
  #session;
  /** Who the service says we are: `{ id, manifest }`. */
  extension;
  /** What hears of events, by their frames. */
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
    await connection.#attempt();
    return connection;
  }

  /** Opens a socket; kept once the service has greeted on it. */
  #attempt() {
    const { base, token, context } = this.#options;
    const page = context?.tabId === undefined ? {} : { contextTabId: String(context.tabId) };
    const since = this.#session ? { since: String(this.#seq), session: this.#session } : {};
    const link = { hasGreeted: false };
    this.#link = link;
    const isCurrent = () => this.#link === link;
    return new Promise((resolve, reject) => {
      const receive = (frame) => {
        if (frame.type !== 'hello') return this.#receive(frame);
        link.hasGreeted = true;
        this.#greeted(frame, link.socket);
        return resolve();
      };
      openSocket({
        url: `${base.replace(/^http/, 'ws')}/v1/ws`,
        token,
        query: { ...page, ...since },
        onOpen: (socket) => {
          if (isCurrent()) link.socket = socket;
          else socket.close();
        },
        onText: (text) => isCurrent() && receive(JSON.parse(text)),
        onClose: (reason, isRefused) => {
          reject(Object.assign(new Error(reason), { isRefused }));
          // An attempt that fails is its loop's alone.
          if (isCurrent() && link.hasGreeted) this.#lost(reason);
        },
      });
    });
  }

  /** Calls an operation; the promise is kept when the answer's turn has come. Throws at once what no frame can carry. */
  call(method, params, extra = {}) {
    const id = this.#nextId++;
    const text = frameText({ id, method, params, ...this.context, ...extra });
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.#write({ id, text });
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
    this.#write({ text: frameText(frame) });
    // Where no socket comes any more a port is over as it opens, in its own time.
    if (this.#end && frame.type === 'port.open') nextTask(() => this.routes.get(frame.port)?.({ type: 'gone' }));
  }

  #write({ id, text }) {
    if (this.#end) this.#settle(id, (call) => call.reject(this.#end));
    else if (this.#socket) this.#socket.send(text);
    else this.#outbox.push({ id, text });
  }

  /** A name for a port that this side opens. */
  portName() {
    return `c${this.#nextPort++}`;
  }

  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // What was sent before goes out before.
    this.#socket?.close();
    this.#socket = undefined;
    this.#link = undefined;
    this.#end = new Error('The connection to tabs-api was closed');
    this.#wake?.();
    // Whoever closes it is not called back within the call.
    nextTask(() => this.#finish(this.#end));
  }

  #greeted({ extension, seq, session }, socket) {
    this.extension = extension;
    this.#seq = seq ?? 0;
    this.#session = session;
    this.#socket = socket;
    // What hung on the old connection is gone with it: declared scripts run anew, before anything is sent to them.
    if (this.onScript) socket.send(frameText({ type: 'scripts' }));
    for (const { text } of this.#outbox.splice(0)) socket.send(text);
  }

  #receive(frame) {
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
    // Those of a lost connection went with it.
    if (!frame) return;
    if (frame.seq) this.#seq = frame.seq;
    this.#deliver(frame);
  }

  #deliver(frame) {
    switch (frame.type) {
      case 'result':
        return this.#settle(frame.id, (call) => call.resolve(frame.result));
      case 'error':
        if (this.#calls.has(frame.id)) return this.#settle(frame.id, (call) => call.reject(asError(frame.error)));
        // It answers no call, so that nobody else would tell of it.
        return console.error(`tabs-api refused a frame: ${frame.error.message}`);
      case 'event':
        for (const listener of this.onEvent) listener(frame);
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

  #lost(reason) {
    this.#link = undefined;
    this.#socket = undefined;
    // Events that nobody heard yet come again: the position is that of those who were delivered.
    this.#inbox.length = 0;
    const error = new Error(`The connection to tabs-api was lost: ${reason}`);
    this.#giveUp(error);
    // Whoever hears of it may close it.
    if (!this.#isClosed) this.#comeBack(error);
  }

  /** Tells everybody who waits on this connection that nothing comes any more. */
  #giveUp(error) {
    for (const id of [...this.#calls.keys()]) this.#settle(id, (call) => call.reject(error));
    const routes = [...this.routes.values()];
    // First: whoever hears of it may open another port at once, which is not gone.
    this.routes.clear();
    for (const hear of routes) hear({ type: 'gone' });
  }

  async #comeBack(lost) {
    let error = lost;
    for (const wait of RECONNECT_WAITS) {
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, wait);
        this.#wake = () => resolve(clearTimeout(timer));
      });
      if (this.#isClosed) return;
      try {
        return await this.#attempt();
      } catch ({ message, isRefused }) {
        error = new Error(`The connection to tabs-api was lost: ${message}`);
        if (this.#isClosed) return;
        if (isRefused) break;
      }
    }
    this.#finish(error);
  }

  /** No socket comes any more, and what waits for one is told so. */
  #finish(error) {
    this.#link = undefined;
    this.#end = error;
    this.#inbox.length = 0;
    this.#outbox.length = 0;
    this.#giveUp(error);
  }
}

function asError({ kind, name, message }) {
  const isType = kind === 'throw' || name === 'TypeError';
  return isType ? new TypeError(message) : new Error(message);
}
