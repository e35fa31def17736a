// An event as extensions know it.

export class Event {
  /** What hears of it, and whether it hears of a detail of what happened. */
  #listeners = new Map();
  #filter;

  /** With `filter` listeners may name what they hear of: it makes of what they give a function of the detail. */
  constructor(filter) {
    this.#filter = filter;
  }

  /** The browser passes over what is no function, and over a listener that it has. */
  addListener(listener, ...given) {
    if (typeof listener !== 'function') return;
    const hears = given.length > 0 ? this.#hearing(given[0]) : () => true;
    if (!this.#listeners.has(listener)) this.#listeners.set(listener, hears);
  }

  #hearing(filter) {
    if (!this.#filter) throw new TypeError('This event does not support filters');
    if (filter === null || !['object', 'function'].includes(typeof filter)) throw new TypeError('Invalid invocation');
    if (Array.isArray(filter) || typeof filter === 'function') throw new TypeError('could not convert filter.');
    return this.#filter(filter);
  }

  removeListener(listener) {
    this.#listeners.delete(listener);
  }

  hasListener(...given) {
    if (given.length === 0) throw new TypeError('Insufficient number of arguments.');
    const [listener] = given;
    if (typeof listener === 'function') return this.#listeners.has(listener);
    // The browser has no text for what is neither of these.
    const shown = typeof listener === 'string' || (listener ?? null) === null ? String(listener) : '';
    throw new TypeError(`Error processing argument at index 0, conversion failure from ${shown}`);
  }

  hasListeners() {
    return this.#listeners.size > 0;
  }

  /** Calls every listener; one that throws does not keep the others from hearing, and the error is not lost. */
  trigger(...values) {
    this.triggerWith(undefined, ...values);
  }

  /** The same for those that hear of a detail of what happened. */
  triggerWith(detail, ...values) {
    const rethrow = (error) =>
      queueMicrotask(() => {
        throw error;
      });
    this.#collect(detail, rethrow, values);
  }

  /** Calls every listener and returns what they returned; `failed` gets what one throws. */
  collect(failed, ...values) {
    return this.#collect(undefined, failed, values);
  }

  #collect(detail, failed, values) {
    const answers = [];
    for (const [listener, hears] of [...this.#listeners]) {
      if (!hears(detail)) continue;
      try {
        answers.push(listener(...values));
      } catch (error) {
        failed(error);
      }
    }
    return answers;
  }
}

/** The filter of events of windows: the types of windows that a listener hears of, all where it names none. */
export function byWindowType({ windowTypes }) {
  const isAll = !Array.isArray(windowTypes) || windowTypes.length === 0;
  return (type) => isAll || windowTypes.includes(type);
}
