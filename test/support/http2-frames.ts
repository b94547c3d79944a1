import { connect } from 'node:tls';

const FRAME_HEAD = 9;
const DATA = 0x0;
const HEADERS = 0x1;
const RESET = 0x3;
const SETTINGS = 0x4;
const GOAWAY = 0x7;
const END_STREAM = 0x1;
const END_HEADERS = 0x4;

const frame = (type: number, flags: number, stream: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(FRAME_HEAD);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};

type Field = readonly [string, string];

/** A field as HPACK's literal without indexing (RFC 7541, 6.2.2); name and value are shorter than 127 bytes. */
const encode = ([name, value]: Field): Buffer => {
  const bytes = [name, value].map((text) => Buffer.from(text, 'latin1'));
  return Buffer.concat([Buffer.of(0), ...bytes.flatMap((text) => [Buffer.of(text.length), text])]);
};

/** What became of a stream: the body of its answer, or that it or the connection was refused without one. */
export interface FramedAnswer {
  body: string;
  refused: boolean;
}

/** An HTTP/2 connection that sends just what it is told to, also after the other side has said goodbye. */
export interface FramedConnection {
  /** Sends a request with exactly these fields; without `end` its body never comes. */
  ask(fields: readonly Field[], end?: boolean): Promise<FramedAnswer>;
  /** Resolves when the other side wants no more streams. */
  goodbye: Promise<void>;
  close(): void;
}

/** Connects to a port of this host, by TLS and HTTP/2. */
export const connectInFrames = async (port: number): Promise<FramedConnection> => {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  const streams = new Map<number, { body: string; settle(answer: FramedAnswer): void }>();
  const goodbye = Promise.withResolvers<void>();
  let unread = Buffer.alloc(0);

  const end = (id: number, refused: boolean): void => {
    const stream = streams.get(id);
    streams.delete(id);
    stream?.settle({ body: stream.body, refused });
  };
  const endAll = (): void => {
    goodbye.resolve();
    for (const id of streams.keys()) end(id, true);
  };
  const take = (type: number, flags: number, id: number, payload: Buffer): void => {
    if (type === GOAWAY) goodbye.resolve();
    if (type === RESET) end(id, true);
    const stream = streams.get(id);
    if (stream && type === DATA) stream.body += payload.toString('latin1');
    if ((type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0) end(id, false);
  };
  socket.on('data', (chunk: Buffer) => {
    unread = Buffer.concat([unread, chunk]);
    for (;;) {
      const length = unread.length < FRAME_HEAD ? Number.POSITIVE_INFINITY : FRAME_HEAD + unread.readUIntBE(0, 3);
      if (unread.length < length) return;
      const id = unread.readUInt32BE(5) & 0x7fffffff;
      take(unread.readUInt8(3), unread.readUInt8(4), id, unread.subarray(FRAME_HEAD, length));
      unread = unread.subarray(length);
    }
  });
  socket.on('error', endAll).on('close', endAll);
  await new Promise((resolve) => socket.once('secureConnect', resolve).once('close', resolve));
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(SETTINGS, 0, 0, Buffer.alloc(0)));

  let next = 1;
  return {
    ask(fields, isWhole = true) {
      const id = next;
      next += 2;
      const { promise, resolve: settle } = Promise.withResolvers<FramedAnswer>();
      streams.set(id, { body: '', settle });
      const flags = END_HEADERS | (isWhole ? END_STREAM : 0);
      if (socket.destroyed) end(id, true);
      else socket.write(frame(HEADERS, flags, id, Buffer.concat(fields.map(encode))));
      return promise;
    },
    goodbye: goodbye.promise,
    close: () => void socket.destroy(),
  };
};

/** One HTTP/2 GET with exactly these fields, which no client library would send. */
export const askInFrames = async (port: number, fields: readonly Field[]): Promise<FramedAnswer> => {
  const connection = await connectInFrames(port);
  const answer = await Promise.race([
    connection.ask(fields),
    connection.goodbye.then(() => ({ body: '', refused: true })),
  ]);
  connection.close();
  return answer;
};
