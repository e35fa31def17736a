// Videos that the user drops or chooses, uploaded in pieces as any client does it: with progress, and going on after a fault of the connection.

import { actor, authorized } from './api.js';
import { Refused, Unreachable, reading, request } from './client.js';
import { button, bytes, element, field, show, viewLink } from './dom.js';
import { refusal } from './pages.js';

/** Bytes of a piece: a multiple of 256 KiB, as the interface wants it. */
const PIECE = 2 * 1024 * 1024;
/** How often a piece is sent again before the upload is given up. */
const ATTEMPTS = 5;

/** Uploads that were begun, which go on while other views are shown. */
const begun = element('ul', { class: 'uploads' });

async function accepted(response) {
  if (response.ok) return response;
  throw new Refused(response.status, reading.error(response.status, await response.text()));
}

/** Begins an upload, and gives the path that its pieces go to. */
async function begin(file, resource, signal) {
  const headers = { ...await authorized(signal), 'content-type': 'application/json', 'x-upload-content-length': String(file.size), 'x-upload-content-type': file.type || 'application/octet-stream' };
  const response = await request('/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status', { method: 'POST', headers, body: JSON.stringify(resource), signal });
  // The address may be the one behind a proxy; here its path alone counts.
  const { pathname, search } = new URL((await accepted(response)).headers.get('location'), location.href);
  return pathname + search;
}

/** Sends the bytes of a range, or asks with none how far the service is. Gives where to go on, or the video. */
async function send(path, range, body, signal) {
  // A browser would take a status of 308 for a redirect.
  const headers = { ...await authorized(signal), 'content-range': range, 'x-guploader-no-308': 'yes' };
  const response = await accepted(await request(path, { method: 'PUT', headers, body, signal }));
  if (response.headers.get('x-http-status-code-override') !== '308') return { video: await response.json() };
  const last = /-(\d+)$/.exec(response.headers.get('range') ?? '');
  return { next: last ? Number(last[1]) + 1 : 0 };
}

/** Uploads a file, and gives the video that it became. */
async function upload(file, resource, { signal, progress }) {
  const path = await begin(file, resource, signal);
  let [next, failures] = [0, 0];
  for (;;) {
    try {
      const end = Math.min(next + PIECE, file.size);
      const answer = failures > 0 || file.size === 0
        ? await send(path, `bytes */${file.size}`, undefined, signal)
        : await send(path, `bytes ${next}-${end - 1}/${file.size}`, file.slice(next, end), signal);
      if (answer.video) return answer.video;
      [next, failures] = [answer.next, 0];
      progress(next);
    } catch (error) {
      failures += 1;
      if (!(error instanceof Unreachable || error.status >= 500) || failures === ATTEMPTS) throw error;
      await new Promise((resolve) => { setTimeout(resolve, 500 * 2 ** failures); });
    }
  }
}

/** Uploads a file as a line of the list: how far it is, and what became of it. */
async function follow(file, privacyStatus, done) {
  const controller = new AbortController();
  const bar = element('progress', { max: Math.max(file.size, 1), value: 0, 'aria-label': `Upload of ${file.name}` });
  const state = element('span', { role: 'status' }, `0 B of ${bytes(file.size)}`);
  const line = element('li', {}, element('span', { class: 'name' }, file.name), ' ', bar, ' ', state, ' ', button('Stop', () => controller.abort(), { 'aria-label': `Stop the upload of ${file.name}` }));
  begun.append(line);
  const progress = (sent) => {
    bar.value = sent;
    state.textContent = `${bytes(sent)} of ${bytes(file.size)}`;
  };
  const title = file.name.replace(/\.[^.]+$/, '').replace(/[<>]/g, ' ').trim().slice(0, 100) || 'Untitled';
  try {
    const { id, snippet } = await upload(file, { snippet: { title, categoryId: '22' }, status: { privacyStatus } }, { signal: controller.signal, progress });
    show(line, element('span', { role: 'status' }, 'Uploaded: ', viewLink(`videos/${id}`, snippet.title)));
    done();
  } catch (error) {
    show(line, element('span', { class: 'name' }, file.name), error.name === 'AbortError' ? element('span', { role: 'status' }, ' was stopped.') : refusal(error));
  }
}

/** The place where videos are dropped, or chosen with the keyboard. `done` is called after each that is there. */
export function dropArea(done) {
  const privacy = element('select', {}, ['private', 'unlisted', 'public'].map((each) => element('option', { value: each }, each)));
  const take = (files) => [...files].forEach((file) => follow(file, privacy.value, done));
  const onchange = ({ target }) => {
    take(target.files);
    target.value = '';
  };
  const chosen = element('input', { type: 'file', accept: 'video/*', multiple: true, onchange });
  const over = (is) => (event) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    area.classList.toggle('over', is);
  };
  const ondrop = (event) => {
    over(false)(event);
    take(event.dataTransfer.files);
  };
  const area = element('section', { class: 'drop', 'aria-label': 'Upload videos', ondragenter: over(true), ondragover: over(true), ondragleave: over(false), ondrop },
    element('p', {}, `Drop videos here, and ${actor()} uploads them.`), element('div', { class: 'filters' }, field('Or choose files', chosen), field('Privacy', privacy)), begun);
  return area;
}
