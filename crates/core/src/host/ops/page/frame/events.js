// Server-sent events with a header of one's own, which EventSource has no place for. What was missed while a connection was gone comes after it.

import { request } from './client.js';

const AGAIN_MS = 1_000;

/** Gives each event's data to `heard` until `signal` ends it, and tells `connected` of the connection. `after` is the place to begin behind. */
export async function follow(path, { heard, connected, signal, after }) {
  let place = after;
  while (!signal.aborted) {
    try {
      const headers = place ? { 'last-event-id': place } : {};
      const response = await request(path, { headers, signal });
      if (!response.ok) return;
      connected(true);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const parts = (text + value).split('\n\n');
        text = parts.pop();
        const events = parts.map(eventOf).filter((event) => event.data !== undefined);
        for (const { id } of events) place = id ?? place;
        if (events.length > 0) heard(events.map(({ data }) => JSON.parse(data)));
      }
    } catch (error) {
      if (signal.aborted) return;
    }
    connected(false);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

function eventOf(text) {
  const event = {};
  for (const line of text.split('\n')) {
    const at = line.indexOf(': ');
    if (at > 0) event[line.slice(0, at)] = line.slice(at + 2);
  }
  return event;
}
