// A port, the same on both sides of a connection.

import { Event } from './event.mjs';

export class Port {
  #connection;
  #id;
  #isOpen = true;
  name;
  sender;
  onMessage = new Event();
  onDisconnect = new Event();

  /** `runtime` shows `lastError` while `onDisconnect` is heard. */
  constructor(connection, id, { name = '', sender, runtime } = {}) {
    this.#connection = connection;
    this.#id = id;
    this.name = name;
    if (sender) this.sender = sender;
    connection.routes.set(id, (frame) => {
      if (frame.type === 'port.message') this.onMessage.trigger(frame.message, this);
      else if (frame.type === 'port.close') this.#closed(frame.error, runtime);
    });
  }

  postMessage(message) {
    if (!this.#isOpen) throw new Error('Attempting to use a disconnected port object');
    this.#connection.send({ type: 'port.message', port: this.#id, message: message ?? null });
  }

  disconnect() {
    if (!this.#isOpen) return;
    this.#end();
    this.#connection.send({ type: 'port.close', port: this.#id });
  }

  #end() {
    this.#isOpen = false;
    this.#connection.routes.delete(this.#id);
  }

  #closed(error, runtime) {
    this.#end();
    const tell = () => this.onDisconnect.trigger(this);
    if (error && runtime) runtime.withLastError(error, tell);
    else tell();
  }
}
