// An event as extensions know it.

export class Event {
  #listeners = new Set();

  addListener(listener) {
    this.#listeners.add(listener);
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

  /** Calls every listener; one that throws does not keep the others from hearing. Returns what they returned. */
  trigger(...values) {
    const answers = [];
    for (const listener of [...this.#listeners]) {
      try {
        answers.push(listener(...values));
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    return answers;
  }
}
