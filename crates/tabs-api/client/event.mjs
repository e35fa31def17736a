// An event as extensions know it.

export class Event {
  #listeners = new Set();

  /** The browser passes over what is no function. */
  addListener(listener) {
    if (typeof listener === 'function') this.#listeners.add(listener);
  }

  removeListener(listener) {
    this.#listeners.delete(listener);
  }

  hasListener(listener) {
    return this.#listeners.has(listener);
  }

  hasListeners() {
    return this.#listeners.size > 0;
  }

  /** Calls every listener; one that throws does not keep the others from hearing, and the error is not lost. */
  trigger(...values) {
    const rethrow = (error) =>
      queueMicrotask(() => {
        throw error;
      });
    this.collect(rethrow, ...values);
  }

  /** Calls every listener and returns what they returned; `failed` gets what one throws. */
  collect(failed, ...values) {
    const answers = [];
    for (const listener of [...this.#listeners]) {
      try {
        answers.push(listener(...values));
      } catch (error) {
        failed(error);
      }
    }
    return answers;
  }
}
