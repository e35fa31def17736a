// `browser` and `chrome`, made from the service's own description of its operations, events and constants.

import { checkArguments } from './argument.mjs';
import { Event, byWindowType } from './event.mjs';
import { Port } from './port.mjs';

/** Builds the namespaces. With `promisesAlways` a call without callback gives a promise in any version of manifest and browser. */
export function namespaces({ schema, connection, promisesAlways }) {
  const { id, manifest } = connection.extension;
  const runtime = makeRuntime(id, manifest);
  const promisesOf = ({ promiseSince }) => {
    const isNative = (manifest.manifest_version ?? 3) >= 3 && schema.version >= promiseSince;
    return { isNative, areGiven: promisesAlways || isNative };
  };
  const api = { runtime };
  const space = (name) => (api[name] ??= {});
  for (const operation of schema.operations) {
    const [name, method] = operation.name.split('.');
    space(name)[method] =
      operation.name === 'tabs.connect'
        ? (...given) => connect(connection, operation, given, runtime)
        : (...given) => call(connection, operation, given, runtime, promisesOf(operation));
  }
  const events = new Map();
  for (const full of schema.events) {
    const [name, event] = full.split('.');
    const filter = schema.filters?.[full]?.includes('windowTypes') ? byWindowType : undefined;
    events.set(full, (space(name)[event] = new Event(filter)));
  }
  connection.onEvent.add(({ name, args, windowType }) => events.get(name)?.triggerWith(windowType, ...args));
  for (const [name, constants] of Object.entries(schema.constants)) Object.assign(space(name), constants);
  return api;
}

function makeRuntime(id, manifest) {
  let lastError;
  let wasRead = true;
  return {
    id,
    getManifest: () => structuredClone(manifest),
    getURL: (path) => `chrome-extension://${id}/${String(path).replace(/^\//, '')}`,
    get lastError() {
      wasRead = true;
      return lastError;
    },
    /** Runs `task` while `lastError` is set, and says so where nobody looked. */
    withLastError(message, task) {
      lastError = { message };
      wasRead = false;
      try {
        task();
      } finally {
        if (!wasRead) console.error(`Unchecked runtime.lastError: ${message}`);
        lastError = undefined;
      }
    },
  };
}

/** A promise that the browser itself does not give is made here, of a call with a callback. */
function call(connection, operation, given, runtime, { isNative, areGiven }) {
  const { params, callback } = checkArguments(operation, given, areGiven);
  const style = callback || !isNative ? 'callback' : 'promise';
  const answer = connection.call(operation.name, params, { style });
  if (!callback && areGiven) return answer;
  const tell = callback ?? (() => undefined);
  answer.then(
    (result) => (result === undefined ? tell() : tell(result)),
    (error) => runtime.withLastError(error.message, () => tell()),
  );
  return undefined;
}

/** The port is there at once; what is posted before it stands goes out in order. */
function connect(connection, operation, given, runtime) {
  const { params } = checkArguments(operation, given);
  const id = connection.portName();
  const send = (frame) => {
    if (frame.type === 'port.close') connection.routes.delete(id);
    connection.send({ ...frame, port: id });
  };
  const port = new Port(send, { name: params[1]?.name, runtime });
  connection.routes.set(id, (frame) => {
    if (frame.type === 'port.close') connection.routes.delete(id);
    port.hear(frame);
  });
  connection.send({ type: 'port.open', port: id, params, ...connection.context });
  return port;
}
