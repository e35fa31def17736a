// The DevTools protocol over the two pipes of a browser: JSON, with a zero byte behind each message; for whatever drives one in tests.

/** How long a command may take. */
const PATIENCE_MS = 60_000;

/** A connection to a browser that was started with `--remote-debugging-pipe`. */
export class DevTools {
  #writer;
  #last = 0;
  #waiting = new Map();
  #text = '';
  #listeners = [];

  constructor(writer, reader) {
    this.#writer = writer;
    writer.on('error', () => {});
    reader.setEncoding('utf8').on('data', (text) => this.#read(text));
    reader.on('close', () => this.#end());
    reader.on('error', () => this.#end());
  }

  /** Does a command, in a session or in the browser itself. */
  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new Error(`the browser did not answer ${method}`));
      }, PATIENCE_MS);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#writer.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  }

  /** Gives every event to a listener: its method, its parameters and its session. */
  listen(listener) {
    this.#listeners.push(listener);
  }

  /** A session with a target. */
  async attach(targetId) {
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    return sessionId;
  }

  /** What an expression comes to in a session, as JSON. */
  async evaluate(sessionId, expression, options = {}) {
    const all = { expression, awaitPromise: true, returnByValue: true, ...options };
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', all, sessionId);
    if (exceptionDetails) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  }

  #read(text) {
    const parts = (this.#text + text).split('\0');
    this.#text = parts.pop();
    for (const { id, result, error, method, params, sessionId } of parts.map((part) => JSON.parse(part))) {
      if (method) this.#listeners.forEach((listener) => listener(method, params, sessionId));
      const waiting = this.#waiting.get(id);
      if (!waiting) continue;
      this.#waiting.delete(id);
      clearTimeout(waiting.timer);
      if (error) waiting.reject(new Error(error.message));
      else waiting.resolve(result);
    }
  }

  #end() {
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error('the browser has ended'));
    }
    this.#waiting.clear();
  }
}
