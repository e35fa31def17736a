// The player of a page that embeds a video: counts a play when it begins, shows what lies over the picture at its time, and goes through a series.
let video;
let overlays;

/** The seconds between which something is shown; from its end on where it has no length. */
function times({ type, offset, length }) {
  const seconds = Number(offset) / 1000;
  const from = type === 'offsetFromEnd' ? Math.max(0, video.duration - seconds) : seconds;
  return [from, length === undefined ? Infinity : from + Number(length) / 1000];
}

function show() {
  for (const overlay of overlays) {
    const [from, to] = times(overlay.dataset);
    overlay.hidden = !(video.currentTime >= from && video.currentTime < to);
  }
}

/** Shows what comes next in the place of what is there, and plays it: a page of its own would not be let play by itself. */
async function follow(address) {
  const { muted, volume } = video ?? {};
  const answer = await fetch(address);
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  document.title = page.title;
  document.querySelector('main').replaceWith(page.querySelector('main'));
  begin();
  if (video) {
    Object.assign(video, { muted: muted ?? video.muted, volume: volume ?? video.volume });
    // Where the browser lets nothing play by itself, the viewer begins it.
    await video.play().catch(() => undefined);
  }
}

function begin() {
  video = document.querySelector('video');
  overlays = [...document.querySelectorAll('[data-offset]')];
  const next = document.querySelector('a.next');
  next?.addEventListener('click', (event) => {
    event.preventDefault();
    follow(next.href);
  });
  if (!video) {
    return;
  }
  for (const event of ['loadedmetadata', 'timeupdate', 'seeked', 'play']) {
    video.addEventListener(event, show);
  }
  const { play } = video.dataset;
  video.addEventListener('play', () => fetch(play, { method: 'POST' }), { once: true });
  if (next) {
    video.addEventListener('ended', () => follow(next.href));
  }
  if (video.readyState > 0) {
    show();
  }
}

begin();
