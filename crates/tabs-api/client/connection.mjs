// One WebSocket: calls out; answers, events and port messages in, in one order.

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
  #whenOpen;
  /** Who the service says we are: `{ id, manifest }`. */
  extension;
  /** What hears of events: `(name, args)`. */
  onEvent = new Set();
  /** What hears of the other frames, by `port`, `endpoint` or type. */
  routes = new Map();

  static async open(options) {
    const connection = new Connection();
    connection.#options = options;
    await connection.#open();
    return connection;
  }

  #open() {
    const { base, token } = this.#options;
    const since = this.#seq ? { since: String(this.#seq) } : {};
    this.#whenOpen = new Promise((resolve, reject) => {
      openSocket({
        url: `${base.replace(/^http/, 'ws')}/v1/ws`,
        token,
        query: since,
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
    const { context } = this.#options;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.send({ id, method, params, ...(context && { context }), ...extra });
    });
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
    this.#socket?.close();
  }

  #receive(frame, opened) {
    if (frame.type === 'hello') {
      this.extension = frame.extension;
      this.#seq = Math.max(this.#seq, frame.seq ?? 0);
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
      default:
        // A port that opens here belongs to the endpoint; everything later belongs to the port.
        return this.routes.get(frame.type === 'port.open' ? frame.endpoint : frame.port ?? frame.endpoint)?.(frame);
    }
  }

  #settle(id, how) {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (call) how(call);
  }

  async #lost(reason) {
    const error = new Error(`The connection to tabs-api was lost: ${reason}`);
    for (const id of [...this.#calls.keys()]) this.#settle(id, (call) => call.reject(error));
    if (this.#isClosed || this.extension === undefined) return;
    for (let attempt = 1; attempt <= RECONNECTS_MAX && !this.#isClosed; attempt++) {
      await new Promise((resolve) => setTimeout(resolve, 100 * attempt));
      try {
        return await this.#open();
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
