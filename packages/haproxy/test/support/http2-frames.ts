import { connect } from 'node:tls';

const FRAME_HEAD = 9;
const DATA = 0x0;
const HEADERS = 0x1;
const RESET = 0x3;
const SETTINGS = 0x4;
const GOAWAY = 0x7;
const END_STREAM_AND_HEADERS = 0x5;

const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};

/** A field as HPACK's literal without indexing (RFC 7541, 6.2.2); name and value are shorter than 127 bytes. */
const field = ([name, value]: readonly [string, string]): Buffer => {
  const bytes = [name, value].map((text) => Buffer.from(text, 'latin1'));
  return Buffer.concat([Buffer.of(0), ...bytes.flatMap((text) => [Buffer.of(text.length), text])]);
};

/**
 * One HTTP/2 GET with exactly these fields, which no client library would send: resolves with the body of the answer
 * (empty when there is none), and with whether the stream or connection was refused without one.
 */
export const askInFrames = (
  port: number,
  fields: readonly (readonly [string, string])[],
): Promise<{ body: string; refused: boolean }> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    let unread = Buffer.alloc(0);
    let body = '';
    const done = (refused: boolean): void => {
      socket.destroy();
      resolve({ body, refused });
    };
    const take = (type: number, flags: number, payload: Buffer): void => {
      if (type === RESET || type === GOAWAY) done(true);
      if (type === DATA) body += payload.toString('latin1');
      if (type === DATA && (flags & 1) === 1) done(false);
    };
    socket.on('secureConnect', () => {
      socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      socket.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)));
      socket.write(frame(HEADERS, END_STREAM_AND_HEADERS, 1, Buffer.concat(fields.map(field))));
    });
    socket.on('data', (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk]);
      for (;;) {
        const end = unread.length < FRAME_HEAD ? Number.POSITIVE_INFINITY : FRAME_HEAD + unread.readUIntBE(0, 3);
        if (unread.length < end) return;
        take(unread.readUInt8(3), unread.readUInt8(4), unread.subarray(FRAME_HEAD, end));
        unread = unread.subarray(end);
      }
    });
    socket.on('error', () => done(true));
    socket.on('close', () => done(true));
  });
