// Values as frames carry them: JSON, with marks for what JSON has not.

/** The bytes that the service takes in one frame. */
const FRAME_BYTES_MAX = 16 * 1024 * 1024;
/** The levels of lists and objects within each other that it takes in one, without those around its message. */
const DEPTH_MAX = 490;
/** What a frame has around its message, at the most: addresses and ids. */
const ENVELOPE_BYTES_MAX = 64 * 1024;

const UNSERIALIZABLE = 'Could not serialize message.';
const TOO_LONG = 'Message length exceeded maximum allowed length.';
const TOO_DEEP = `Could not serialize message: the service takes lists and objects of ${DEPTH_MAX} levels.`;

/** Marks a value that JSON has not, as `undefined` or `function`. */
export const mark = (name) => ({ $js: name });

/** A message as JSON carries it, taken now; one that it cannot carry is a TypeError with the browser's words. */
export function serializable(message) {
  const text = textOf(message === undefined ? null : message);
  if (text === undefined) throw new TypeError(UNSERIALIZABLE);
  if (isLonger(text, FRAME_BYTES_MAX - ENVELOPE_BYTES_MAX)) throw new TypeError(TOO_LONG);
  return escaped(JSON.parse(text));
}

/** The text of a frame, which is known before anything waits for its answer. */
export function frameText(frame) {
  const text = textOf(frame);
  if (isLonger(text, FRAME_BYTES_MAX)) throw new TypeError(TOO_LONG);
  return text;
}

function textOf(value) {
  try {
    return JSON.stringify(value);
  } catch {
    // V8 has words of its own for circles and for numbers without bounds.
    throw new TypeError(UNSERIALIZABLE);
  }
}

/** No character has more than three bytes for each of its units, so that short texts need not be encoded. */
const isLonger = (text, bytes) => text.length * 3 > bytes && new TextEncoder().encode(text).length > bytes;

const IS_MARK = /^\$+js$/;

/** JSON whose own members of a mark's name cannot be taken for one: each has one more `$` in front. */
function escaped(value, depth = 1) {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEPTH_MAX) throw new TypeError(TOO_DEEP);
  const within = (member) => escaped(member, depth + 1);
  if (Array.isArray(value)) return value.map(within);
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [IS_MARK.test(key) ? `$${key}` : key, within(member)]));
}
