// A content script: the endpoint in a frame of a tab that `connect` and `sendMessage` reach.

import { Event } from './event.mjs';
import { Port } from './port.mjs';

export class ContentScript {
  #connection;
  #endpoint;
  /** `runtime.onConnect` and `runtime.onMessage` of the content script. */
  runtime = { onConnect: new Event(), onMessage: new Event() };

  static async attach(connection, { tabId, frameId = 0 }) {
    const script = new ContentScript();
    script.#connection = connection;
    const { endpoint } = await connection.call(undefined, undefined, { type: 'attach', tabId, frameId });
    script.#endpoint = endpoint;
    connection.routes.set(endpoint, (frame) => script.#hear(frame));
    return script;
  }

  detach() {
    this.#connection.routes.delete(this.#endpoint);
    this.#connection.send({ type: 'detach', endpoint: this.#endpoint });
  }

  #hear(frame) {
    if (frame.type === 'port.open') {
      const { name, sender } = frame;
      this.runtime.onConnect.trigger(new Port(this.#connection, frame.port, { name, sender }));
    } else if (frame.type === 'message') {
      this.#answer(frame);
    }
  }

  /** The first answer counts: one given at once, one given later where a listener returned true, or a promise. */
  #answer({ request, message, sender }) {
    let isAnswered = false;
    const say = (frame) => {
      if (!isAnswered) this.#connection.send({ request, ...frame });
      isAnswered = true;
    };
    const reply = (value) => say({ type: 'message.reply', value: value ?? null });
    const fail = (error) => say({ type: 'message.error', error: error?.message ?? String(error) });
    const answers = this.runtime.onMessage.trigger(message, sender, reply);
    const promise = answers.find((answer) => typeof answer?.then === 'function');
    if (promise) promise.then(reply, fail);
    else if (!answers.includes(true)) say({ type: 'message.none' });
  }
}
