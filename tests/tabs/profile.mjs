// A browser of one test file's own, and the ways in which tests wait for events.

const url = process.env.TRIPTYCH_TABS_URL;

/** Does something on the control side. */
export async function control(method, path, body) {
  const reply = await fetch(`${url}/v1/control${path}`, {
    method,
    headers: { Authorization: `Bearer ${process.env.TRIPTYCH_TABS_CONTROL_TOKEN}`, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  const answer = await reply.json();
  if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${answer.error?.message}`);
  return answer;
}

/** A profile of a seed: who its extensions are, and how to remove it. */
export async function makeProfile(seed) {
  const made = await control('POST', '/profiles', seed);
  return {
    name: made.name,
    extensions: made.extensions.map(({ id, token }) => ({ id, url, token })),
    remove: () => control('DELETE', `/profiles/${made.name}`),
  };
}

/** The next event that fits, as the list of its arguments. */
export function next(event, matches = () => true) {
  return new Promise((resolve, reject) => {
    event.addListener(function listener(...values) {
      try {
        if (!matches(...values)) return;
      } catch (error) {
        reject(error);
      }
      event.removeListener(listener);
      resolve(values);
    });
  });
}
