// Writes a film that every Chromium plays: VP8 frames, which the browser itself encodes, in a WebM file.

const id = (hex) => Buffer.from(hex, 'hex');
const size = (length) => {
  const out = Buffer.alloc(8);
  out.writeBigUInt64BE(BigInt(length));
  out[0] = 0x01;
  return out;
};
const element = (hex, ...parts) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([id(hex), size(body.length), body]);
};
const unsigned = (hex, value) => {
  const body = Buffer.alloc(8);
  body.writeBigUInt64BE(BigInt(value));
  return element(hex, body);
};
const text = (hex, value) => element(hex, Buffer.from(value));
const float = (hex, value) => {
  const body = Buffer.alloc(8);
  body.writeDoubleBE(value);
  return element(hex, body);
};

/** A film of frames `{ milliseconds, isKey, data }`, where each key frame begins a cluster that is found by its time. */
export function webm({ width, height, milliseconds, frames }) {
  const head = element('1a45dfa3', unsigned('4286', 1), unsigned('42f7', 1), unsigned('42f2', 4), unsigned('42f3', 8), text('4282', 'webm'), unsigned('4287', 2), unsigned('4285', 2));
  const information = element('1549a966', unsigned('2ad7b1', 1_000_000), float('4489', milliseconds), text('4d80', 'test'), text('5741', 'test'));
  const picture = element('e0', unsigned('b0', width), unsigned('ba', height));
  const tracks = element('1654ae6b', element('ae', unsigned('d7', 1), unsigned('73c5', 1), unsigned('83', 1), text('86', 'V_VP8'), picture));
  const groups = [];
  for (const frame of frames) {
    if (frame.isKey) groups.push([]);
    groups.at(-1).push(frame);
  }
  const clusters = groups.map((group) => {
    const [{ milliseconds: from }] = group;
    const blocks = group.map(({ milliseconds: at, isKey, data }) => {
      const start = Buffer.from([0x81, 0, 0, isKey ? 0x80 : 0]);
      start.writeInt16BE(at - from, 1);
      return element('a3', start, data);
    });
    return { from, bytes: element('1f43b675', unsigned('e7', from), ...blocks) };
  });
  // A number is as long whatever it is, so that the places of what follows are known before they are written.
  const index = (begin) => {
    let place = begin;
    return element('1c53bb6b', ...clusters.map(({ from, bytes }) => {
      const point = element('bb', unsigned('b3', from), element('b7', unsigned('f7', 1), unsigned('f1', place)));
      place += bytes.length;
      return point;
    }));
  };
  const before = information.length + tracks.length + index(0).length;
  return Buffer.concat([head, element('18538067', information, tracks, index(before), ...clusters.map(({ bytes }) => bytes))]);
}

/** A film that the browser of a page on this machine makes: a colour for each second, and two frames a second. */
export async function film(page, { seconds = 12, width = 320, height = 180 } = {}) {
  const frames = await page.run(async (seconds, width, height) => {
    const frames = [];
    const output = (chunk) => {
      const data = new Uint8Array(chunk.byteLength);
      chunk.copyTo(data);
      frames.push({ milliseconds: chunk.timestamp / 1_000, isKey: chunk.type === 'key', data: btoa(String.fromCharCode(...data)) });
    };
    const failed = [];
    const encoder = new VideoEncoder({ output, error: (error) => failed.push(error.message) });
    encoder.configure({ codec: 'vp8', width, height, bitrate: 100_000, framerate: 2 });
    const canvas = new OffscreenCanvas(width, height);
    const context = canvas.getContext('2d');
    for (let at = 0; at < seconds * 2; at += 1) {
      context.fillStyle = `hsl(${(Math.floor(at / 2) * 360) / seconds} 60% 40%)`;
      context.fillRect(0, 0, width, height);
      context.fillStyle = 'white';
      context.font = '48px sans-serif';
      context.fillText(String(Math.floor(at / 2)), 20, 60);
      const frame = new VideoFrame(canvas, { timestamp: at * 500_000, duration: 500_000 });
      encoder.encode(frame, { keyFrame: at % 4 === 0 });
      frame.close();
    }
    await encoder.flush();
    if (failed.length > 0) throw new Error(failed[0]);
    return frames;
  }, seconds, width, height);
  const decoded = frames.map(({ data, ...rest }) => ({ ...rest, data: Buffer.from(data, 'base64') }));
  return webm({ width, height, milliseconds: seconds * 1_000, frames: decoded });
}
