// One call of a scenario, made by an extension: in its worker, or in a page of its own.

/** How long a call may take before it counts as pending. */
const PENDING_AFTER_MS = 8_000;

/** Values that JSON has not, as scenarios write them. */
const SPECIAL = { undefined: undefined, NaN: NaN, Infinity: Infinity, '-Infinity': -Infinity, '-0': -0 };

/** A value without what JSON cannot hold. */
export const plain = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

/** Arguments with `{"$js": ...}` made into the value that it stands for. */
export function revive(value) {
  if (Array.isArray(value)) return value.map(revive);
  if (value === null || typeof value !== 'object') return value;
  if ('$js' in value) return value.$js === 'function' ? () => {} : SPECIAL[value.$js];
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, revive(member)]));
}

/** How an error is written down: `throw`, `reject`, `lastError` or `pending`. */
export const failed = (kind, error) => ({ error: { kind, name: error?.name ?? '', message: String(error?.message ?? error) } });

/** Makes a call and waits for what comes of it. */
export async function call({ op, args = [], style, timeout = PENDING_AFTER_MS }) {
  const [namespace, name] = op.split('.');
  const values = revive(args);
  if (op === 'harness.const') return constants(values);
  const target = chrome[namespace];
  if (typeof target?.[name] !== 'function') return failed('throw', new TypeError(`chrome.${op} is not a function`));
  const made = style === 'callback' ? withCallback(target, name, values) : withPromise(target, name, values);
  let timer;
  const late = new Promise((resolve) => {
    timer = setTimeout(() => resolve(failed('pending', new Error(`not settled in ${timeout} ms`))), timeout);
  });
  const outcome = await Promise.race([made, late]);
  clearTimeout(timer);
  return outcome;
}

async function withPromise(target, name, values) {
  let promise;
  try {
    promise = target[name](...values);
  } catch (error) {
    return failed('throw', error);
  }
  try {
    const value = await promise;
    return value === undefined ? { result: null, undef: true } : { result: plain(value) };
  } catch (error) {
    return failed('reject', error);
  }
}

function withCallback(target, name, values) {
  return new Promise((resolve) => {
    let returned;
    const callback = (...got) => {
      const error = chrome.runtime.lastError;
      const shape = { callback_args: got.length, returned: typeof returned };
      if (error) return resolve({ ...failed('lastError', error), ...shape });
      const isUndefined = got.length > 0 && got[0] === undefined;
      resolve({ result: plain(got[0]) ?? null, ...(isUndefined && { undef: true }), ...shape });
    };
    try {
      returned = target[name](...values, callback);
    } catch (error) {
      resolve(failed('throw', error));
    }
  });
}

const constants = (names) => {
  const value = chrome.tabs[names[0]];
  return value === undefined ? { result: null, undef: true } : { result: plain(value) };
};
