// A WebSocket in pages and in Node. Node 20 has none of its own, so a small client (RFC 6455) is written out here.

const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

/** Answers that another attempt would get too. */
const REFUSALS = [400, 401, 403, 404];

/**
 * Opens a socket. Calls `onOpen(socket)`, `onText(text)` for each message, and `onClose(reason, isRefused)` once: refused is what another
 * attempt would be too.
 */
export function openSocket(options) {
  return globalThis.process?.versions?.node ? openInNode(options) : openInPage(options);
}

function openInPage({ url, token, query, onOpen, onText, onClose }) {
  const socket = new WebSocket(`${url}?${new URLSearchParams({ ...query, token })}`);
  socket.onopen = () => onOpen({ send: (text) => socket.send(text), close: () => socket.close() });
  socket.onmessage = ({ data }) => onText(data);
  socket.onclose = ({ code, reason }) => onClose(reason || `closed with code ${code}`, false);
}

async function openInNode({ url, token, query, onOpen, onText, onClose }) {
  const { randomBytes } = await import('node:crypto');
  const target = new URL(url.replace(/^ws/, 'http'));
  const { request } = await import(target.protocol === 'https:' ? 'node:https' : 'node:http');
  target.search = new URLSearchParams(query).toString();
  const handshake = request(target, {
    headers: {
      Authorization: `Bearer ${token}`,
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
    },
  });
  let isOver = false;
  const over = (reason, isRefused = false) => {
    if (isOver) return;
    isOver = true;
    onClose(reason, isRefused);
  };
  handshake.on('error', (error) => over(error.message));
  handshake.on('response', (reply) => {
    reply.resume();
    over(`${target.pathname} answered ${reply.statusCode}`, REFUSALS.includes(reply.statusCode));
  });
  handshake.on('upgrade', (_reply, stream, head) => {
    const send = (opcode, payload) => stream.write(frame(opcode, payload, randomBytes(4)));
    const reader = new FrameReader({
      text: onText,
      ping: (payload) => send(PONG, payload),
      close: (reason) => {
        over(reason);
        stream.end();
      },
    });
    stream.setNoDelay(true);
    stream.on('data', (chunk) => reader.push(chunk));
    stream.on('error', (error) => over(error.message));
    stream.on('close', () => over('the service ended the connection'));
    onOpen({
      send: (text) => send(TEXT, Buffer.from(text)),
      close: () => {
        send(CLOSE, Buffer.from([0x03, 0xe8]));
        stream.end();
      },
    });
    reader.push(head);
  });
  handshake.end();
}

/** One whole frame of a client: masked, as the protocol wants it. */
function frame(opcode, payload, mask) {
  const { length } = payload;
  let header;
  if (length < 126) {
    header = Buffer.from([0x80 | opcode, 0x80 | length]);
  } else if (length < 65536) {
    header = Buffer.from([0x80 | opcode, 0x80 | 126, length >> 8, length & 0xff]);
  } else {
    header = Buffer.alloc(10);
    header[0] = 0x80 | opcode;
    header[1] = 0x80 | 127;
    header.writeBigUInt64BE(BigInt(length), 2);
  }
  const masked = Buffer.from(payload);
  for (let at = 0; at < length; at++) masked[at] ^= mask[at & 3];
  return Buffer.concat([header, mask, masked]);
}

/** Cuts a stream into frames and puts fragments together. */
class FrameReader {
  #to;
  #rest = Buffer.alloc(0);
  #parts = [];

  constructor(to) {
    this.#to = to;
  }

  push(chunk) {
    this.#rest = this.#rest.length ? Buffer.concat([this.#rest, chunk]) : chunk;
    for (let next = this.#take(); next; next = this.#take()) this.#frame(next);
  }

  #take() {
    const bytes = this.#rest;
    if (bytes.length < 2) return undefined;
    let [length, start] = [bytes[1] & 0x7f, 2];
    if (length === 126) {
      if (bytes.length < 4) return undefined;
      [length, start] = [bytes.readUInt16BE(2), 4];
    } else if (length === 127) {
      if (bytes.length < 10) return undefined;
      [length, start] = [Number(bytes.readBigUInt64BE(2)), 10];
    }
    if (bytes.length < start + length) return undefined;
    this.#rest = bytes.subarray(start + length);
    return { isLast: (bytes[0] & 0x80) !== 0, opcode: bytes[0] & 0x0f, payload: bytes.subarray(start, start + length) };
  }

  #frame({ isLast, opcode, payload }) {
    if (opcode === PING) return this.#to.ping(payload);
    if (opcode === PONG) return undefined;
    if (opcode === CLOSE) return this.#to.close(payload.subarray(2).toString() || 'the service closed the connection');
    this.#parts.push(payload);
    if (!isLast) return undefined;
    const text = Buffer.concat(this.#parts).toString();
    this.#parts = [];
    return this.#to.text(text);
  }
}
