// The player of a page that embeds a video: counts a play when it begins, and shows what lies over the picture at its time.
const video = document.querySelector('video');
const overlays = [...document.querySelectorAll('[data-offset]')];

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

if (video) {
  for (const event of ['loadedmetadata', 'timeupdate', 'seeked', 'play']) {
    video.addEventListener(event, show);
  }
  video.addEventListener('play', () => fetch(video.dataset.play, { method: 'POST' }), { once: true });
  if (video.readyState > 0) {
    show();
  }
}
