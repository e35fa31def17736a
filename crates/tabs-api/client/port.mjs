// A port, the same on both sides of a connection.

import { Event } from './event.mjs';
import { serializable } from './message.mjs';

export class Port {
  #send;
  #runtime;
  #isOpen = true;
  name;
  sender;
  onMessage = new Event();
  onDisconnect = new Event();

  /** `send(frame)` passes a frame of this port on; `runtime` shows `lastError` while `onDisconnect` is heard. */
  constructor(send, { name = '', sender, runtime } = {}) {
    this.#send = send;
    this.#runtime = runtime;
    this.name = name;
    if (sender) this.sender = sender;
  }

  postMessage(...given) {
    if (given.length === 0) throw new TypeError('Insufficient number of arguments.');
    if (!this.#isOpen) throw new Error('Attempting to use a disconnected port object');
    this.#send({ type: 'port.message', message: serializable(given[0]) });
  }

  disconnect() {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#send({ type: 'port.close' });
  }

  /** Takes a frame of the service. */
  hear(frame) {
    if (!this.#isOpen) return;
    if (frame.type === 'port.message') this.onMessage.trigger(frame.message, this);
    else if (frame.type === 'port.close' || frame.type === 'gone') this.end(frame.error);
  }

  /** The other side is gone, `error` says why. */
  end(error) {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    const tell = () => this.onDisconnect.trigger(this);
    if (error && this.#runtime) this.#runtime.withLastError(error, tell);
    else tell();
  }
}
