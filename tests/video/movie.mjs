// Writes small, valid MP4 files, so that tests upload real media without carrying any: movie.py in JavaScript.

const number = (width) => (...values) => {
  const out = Buffer.alloc(width * values.length);
  values.forEach((value, at) => out.writeUIntBE(value, at * width, width));
  return out;
};
const [u16, u32] = [number(2), number(4)];

const box = (kind, ...parts) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(8 + body.length), Buffer.from(kind), body]);
};
const full = (kind, flags, ...parts) => box(kind, u32(flags), ...parts);

const MATRIX = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);

// A movie of one H.264 track with the given length and size; its samples are `payload` bytes of nothing.
export const mp4 = ({ seconds = 12, width = 1280, height = 720, payload = 4096 } = {}) => {
  const ticks = seconds * 1000;
  const movieHeader = full('mvhd', 0, u32(0, 0, 1000, ticks, 0x10000), u16(0x0100), Buffer.alloc(10), MATRIX, Buffer.alloc(24), u32(2));
  const trackHeader = full('tkhd', 7, u32(0, 0, 1, 0, ticks), Buffer.alloc(8), u16(0, 0, 0, 0), MATRIX, u32(width << 16, height << 16));
  const mediaHeader = full('mdhd', 0, u32(0, 0, 1000, ticks), u16(0x55c4, 0));
  const handler = full('hdlr', 0, u32(0), Buffer.from('vide'), Buffer.alloc(12), Buffer.from('video\0'));
  const codec = box('avcC', Buffer.from([1, 0x64, 0, 0x1f, 0xff, 0xe0, 0]));
  const entry = box(
    'avc1',
    Buffer.alloc(6),
    u16(1),
    Buffer.alloc(16),
    u16(width, height),
    u32(0x480000, 0x480000, 0),
    u16(1),
    Buffer.alloc(32),
    u16(24, 0xffff),
    codec,
  );
  const fileType = box('ftyp', Buffer.from('isom'), u32(512), Buffer.from('isomiso2avc1mp41'));
  const movie = (offset) => {
    const table = box(
      'stbl',
      full('stsd', 0, u32(1), entry),
      full('stts', 0, u32(1, 1, ticks)),
      full('stsc', 0, u32(1, 1, 1, 1)),
      full('stsz', 0, u32(payload, 1)),
      full('stco', 0, u32(1, offset)),
    );
    const data = box('dinf', full('dref', 0, u32(1), full('url ', 1)));
    const information = box('minf', full('vmhd', 1, Buffer.alloc(8)), data, table);
    return box('moov', movieHeader, box('trak', trackHeader, box('mdia', mediaHeader, handler, information)));
  };
  const offset = fileType.length + movie(0).length + 8;
  return Buffer.concat([fileType, movie(offset), box('mdat', Buffer.alloc(payload))]);
};
