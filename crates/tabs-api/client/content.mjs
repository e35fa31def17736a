// A content script: what runs in a frame of a tab, and what `tabs.connect` and `tabs.sendMessage` reach.

import { Event } from './event.mjs';
import { serializable } from './message.mjs';
import { Port } from './port.mjs';

export class ContentScript {
  #connection;
  #endpoint;
  #ports = new Map();
  #isRunning = true;
  tabId;
  frameId;
  documentId;
  url;
  /** The files of it that the manifest names; none for one that was attached. */
  files;
  /** `runtime.onConnect` and `runtime.onMessage` of the content script. */
  runtime;
  /** Tells that its document is gone. */
  onGone = new Event();

  /** `place` is what the service says of it: endpoint, tabId, frameId, documentId, url, files. */
  constructor(connection, runtime, place) {
    this.#connection = connection;
    this.#endpoint = place.endpoint;
    const { tabId, frameId, documentId, url, files = [] } = place;
    Object.assign(this, { tabId, frameId, documentId, url, files });
    this.runtime = Object.create(runtime, {
      onConnect: { value: new Event(), enumerable: true },
      onMessage: { value: new Event(), enumerable: true },
    });
    connection.routes.set(this.#endpoint, (frame) => this.#hear(frame));
  }

  /** Attaches one to a frame, as `scripting.executeScript` runs one there. */
  static async attach(connection, runtime, { tabId, frameId = 0 }) {
    const place = await connection.call(undefined, undefined, { type: 'attach', tabId, frameId });
    return new ContentScript(connection, runtime, place);
  }

  get isRunning() {
    return this.#isRunning;
  }

  /** Ends it; the promise is kept when nothing reaches it any more. */
  async detach() {
    if (!this.#isRunning) return;
    this.#end();
    await this.#connection.call(undefined, undefined, { type: 'detach', endpoint: this.#endpoint });
  }

  #send(frame) {
    this.#connection.send({ ...frame, endpoint: this.#endpoint });
  }

  #end() {
    this.#isRunning = false;
    this.#connection.routes.delete(this.#endpoint);
    for (const port of this.#ports.values()) port.end();
    this.#ports.clear();
  }

  #hear(frame) {
    switch (frame.type) {
      case 'message':
        return this.#answer(frame);
      case 'port.open':
        return this.#opened(frame);
      case 'gone':
      case 'script.gone':
        this.#end();
        return this.onGone.trigger(this);
      default: {
        const port = this.#ports.get(frame.port);
        if (frame.type === 'port.close') this.#ports.delete(frame.port);
        return port?.hear(frame);
      }
    }
  }

  #opened({ port: id, name, sender }) {
    const send = (frame) => {
      if (frame.type === 'port.close') this.#ports.delete(id);
      this.#send({ ...frame, port: id });
    };
    const port = new Port(send, { name, sender, runtime: this.runtime });
    this.#ports.set(id, port);
    this.runtime.onConnect.trigger(port);
  }

  /** The first answer counts: one given at once, one given later where a listener returned true, or a promise. */
  #answer({ request, message, sender }) {
    let isAnswered = false;
    const say = (frame) => {
      if (!isAnswered && this.#isRunning) this.#send({ request, ...frame });
      isAnswered = true;
    };
    const reply = (value) => say({ type: 'message.reply', value: serializable(value) });
    const fail = (error) => say({ type: 'message.error', error: error?.message ?? String(error) });
    const answers = this.runtime.onMessage.collect(fail, message, sender, reply);
    if (isAnswered) return;
    const promises = answers.filter((answer) => typeof answer?.then === 'function');
    for (const promise of promises) promise.then(reply).catch(fail);
    // A listener may have ended its own script.
    if (!this.#isRunning) return;
    const type = promises.length > 0 || answers.includes(true) ? 'message.later' : 'message.none';
    this.#send({ type, request });
    if (type === 'message.none') isAnswered = true;
  }
}
