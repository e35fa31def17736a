// The pages of a fixtures file as a web site: every host that ends in `.test` is led here.

import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** A red square of one pixel, for pages with an icon. */
const ICON = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==',
  'base64',
);

/** Scripts of fixtures that are not written as the code that they are. */
const CODE = [
  [/^history\.pushState -> (\S+)$/, (path) => `history.pushState({}, '', '${path}')`],
  [/^(window\.open\('[^']*'\)) .*$/, (code) => code],
  [/^plays a tone for ([\d.]+) s$/, (seconds) => {
    const start = 'const sound = new AudioContext(); const tone = sound.createOscillator(); tone.connect(sound.destination); tone.start();';
    return `${start} setTimeout(() => tone.stop(), ${seconds * 1000})`;
  }],
];

function code(script) {
  const [, delay = 0, action] = /^(?:t=(\d+): )?(.*)$/.exec(script);
  for (const [form, write] of CODE) {
    const found = form.exec(action);
    if (found) return `setTimeout(() => { ${write(found[1])} }, ${delay})`;
  }
  return `setTimeout(() => { ${action} }, ${delay})`;
}

/** `/a.html .. /f.html` stands for six pages, whose titles run with them. */
function expand(path, page) {
  const range = /^\/(.)\.html \.\. \/(.)\.html$/.exec(path);
  if (!range) return [[path, page]];
  const [first, last] = [range[1].charCodeAt(0), range[2].charCodeAt(0)];
  const letters = Array.from({ length: last - first + 1 }, (_, at) => String.fromCharCode(first + at));
  const stem = page.title.slice(0, page.title.indexOf(' .. ') - 1);
  return letters.map((letter) => [`/${letter}.html`, { ...page, title: stem + letter.toUpperCase() }]);
}

function html({ title, lang, favicon, iframes = [], script, text }, path) {
  const icon = `<link rel="icon" href="${favicon ? '/icon.png' : 'data:,'}">`;
  const head = `<meta charset="utf-8">${title == null ? '' : `<title>${title}</title>`}${icon}`;
  const frames = iframes.map((address) => `<iframe src="${address}"></iframe>`).join('');
  const start = `<!doctype html><html${lang ? ` lang="${lang}"` : ''}><head>${head}</head>`;
  return `${start}<body><p id="top">${text ?? path}</p><p id="x">x</p>${frames}${script ? `<script>${code(script)}</script>` : ''}</body></html>`;
}

/** Serves the pages on a free port. Gives the port, and `stop()`. */
export async function startPages(fixtures) {
  const pages = new Map(Object.entries(fixtures.paths).flatMap(([path, page]) => expand(path, page)));
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, 'http://any.test').pathname;
    if (path === '/icon.png') return response.setHeader('content-type', 'image/png').end(ICON);
    if (path === '/favicon.ico') return response.writeHead(404).end();
    const page = pages.get(path) ?? pages.get('any other');
    await sleep(page.headers_delay_ms ?? 0);
    if (page.location) response.setHeader('location', page.location);
    if (page.download) response.setHeader('content-disposition', `attachment; filename=${page.download}`);
    if (!page.is_cached) response.setHeader('cache-control', 'no-store');
    response.writeHead(page.status ?? 200, { 'content-type': page.download ? 'application/octet-stream' : 'text/html; charset=utf-8' });
    if (page.status === 204) return response.end();
    const [body, end] = [html(page, path), '</body></html>'];
    // The start is longer than what a browser waits for before it shows a page.
    response.write(body.slice(0, -end.length) + ' '.repeat(page.body_delay_ms ? 2_000 : 0));
    await sleep(page.body_delay_ms ?? 0);
    return response.end(end);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: server.address().port,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
