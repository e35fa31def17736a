// A small chart of the last minutes.

import { drawn, element } from './dom.js';

const [WIDTH, HEIGHT, POINTS] = [240, 48, 150];

/** A chart with a title; `add(value)` draws the next point, `text` says a value in words. */
export function chart(title, text) {
  const values = [];
  const line = drawn('polyline', { fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5, 'vector-effect': 'non-scaling-stroke' });
  const picture = drawn('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': title }, line);
  const now = element('output', {}, '–');
  const area = element('figure', { class: 'chart' }, element('figcaption', {}, title, ' ', now), picture);
  const add = (value) => {
    values.push(value);
    if (values.length > POINTS) values.shift();
    const most = Math.max(...values, Number.MIN_VALUE);
    const x = (at) => ((POINTS - values.length + at) * WIDTH) / (POINTS - 1);
    line.setAttribute('points', values.map((each, at) => `${x(at).toFixed(1)},${(HEIGHT - 2 - (each / most) * (HEIGHT - 4)).toFixed(1)}`).join(' '));
    now.textContent = text(value);
    picture.setAttribute('aria-label', `${title}: ${text(value)} now, at most ${text(most)} in the time that is shown`);
  };
  return { area, add };
}
