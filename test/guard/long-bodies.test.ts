import { readdirSync, readlinkSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { guardFiles, spoolDirectory } from '@sallyport/deployment/places';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/free-ports.ts';
import { type Guarded, startGuarded } from '../support/guard/start-guarded.ts';
import { ask, exchange, statusLine } from '../support/http-client.ts';
import { startOrigin, type TestOrigin } from './support/origin.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const BODY_LIMIT = 13_107_200;

/** A form of this many bytes with an attack at its end. */
const padded = (bytes: number): string => `pad=${'x'.repeat(Math.max(0, bytes - 13))}&q=attack`;

const chunked = (body: string, chunkBytes: number): string => {
  let text = '';
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.slice(at, at + chunkBytes);
    text += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  }
  return `${text}0\r\n\r\n`;
};

const head = (framing: string, extra = ''): string =>
  `POST /p HTTP/1.1\r\nHost: guarded.test\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n${framing}\r\n${extra}\r\n`;

describe('long bodies', () => {
  let guarded: Guarded;
  let origin: TestOrigin;

  beforeAll(async () => {
    origin = await startOrigin();
    guarded = await startGuarded();
    await guarded.serve({ origin: { port: origin.port } as never });
  });
  afterAll(async () => {
    await guarded.stop();
    await origin.stop();
  });

  const attacks = () => origin.arrivals.filter(({ body, url }) => body.includes('attack') || url.includes('attack'));

  test.each([
    100, 8_000, 8_191, 8_192, 8_193, 15_000, 16_000, 16_384, 16_385, 32_768, 131_072, 131_073, 1_000_000, 5_000_000,
  ])('padding an attack to %i bytes gets it past nothing', async (bytes) => {
    const answer = await ask({ port: guarded.httpPort, body: padded(bytes), headers: FORM });
    expect(answer.status).toBe(403);
    expect(String(answer.headers['x-sallyport-reference'])).toMatch(/^[0-9a-f-]{36}$/);
    expect(attacks()).toEqual([]);
  });

  test.each([
    [20, 7],
    [9_000, 1_000],
    [40_000, 16_000],
    [300_000, 65_536],
  ])('nor does sending %i bytes in chunks of %i', async (bytes, chunkBytes) => {
    const answer = await exchange(guarded.httpPort, [
      head('Transfer-Encoding: chunked'),
      chunked(padded(bytes), chunkBytes),
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(attacks()).toEqual([]);
  });

  test('nor do chunks that come one by one', async () => {
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(guarded.httpPort, '127.0.0.1');
      let text = '';
      socket.setEncoding('latin1').on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', () => {});
      socket.on('close', () => resolve(text));
      const body = padded(200);
      socket.setNoDelay(true);
      socket.write(head('Transfer-Encoding: chunked'));
      let at = 0;
      const next = (): void => {
        if (at < body.length) {
          socket.write(`a\r\n${body.slice(at, at + 10).padEnd(10, 'z')}\r\n`, () => setImmediate(next));
          at += 10;
        } else socket.write('0\r\n\r\n');
      };
      next();
    });
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(attacks()).toEqual([]);
  });

  test('nor does a header block that leaves little room for the body', async () => {
    for (const headerBytes of [7_000, 10_000, 13_000]) {
      const extra = `X-Pad: ${'h'.repeat(headerBytes)}\r\n`;
      const body = padded(4_000);
      const answer = await exchange(guarded.httpPort, [head(`Content-Length: ${body.length}`, extra), body]);
      expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    }
    expect(attacks()).toEqual([]);
  });

  test('nor does asking for an upgrade with a body', async () => {
    const upgrade = 'Upgrade: websocket\r\n';
    for (const body of [padded(100), padded(50_000)]) {
      const framings = [
        [
          head(`Content-Length: ${body.length}`, upgrade).replace('Connection: close', 'Connection: Upgrade, close'),
          body,
        ],
        [
          head('Transfer-Encoding: chunked', upgrade).replace('Connection: close', 'Connection: Upgrade, close'),
          chunked(body, 1_000),
        ],
      ] as const;
      for (const [start, rest] of framings) {
        expect(await exchange(guarded.httpPort, [start, rest])).toMatch(/^(?:HTTP\/1\.[01] 40[03] |$)/);
      }
    }
    expect(attacks()).toEqual([]);
  });

  test('a compressed body is judged by what it holds, and arrives as it was sent', async () => {
    const send = (body: Buffer) =>
      ask({
        port: guarded.httpPort,
        body,
        headers: { 'content-type': 'application/octet-stream', 'content-encoding': 'gzip' },
      });
    const before = origin.arrivals.length;
    for (const bytes of [10, 100_000]) expect((await send(gzipSync(padded(bytes)))).status).toBe(403);
    expect((await send(Buffer.from('no gzip'))).status).toBe(400);
    expect(origin.arrivals).toHaveLength(before);
    const harmless = gzipSync(Buffer.from(`pad=${'z'.repeat(100_000)}`));
    expect((await send(harmless)).status).toBe(200);
    expect(origin.arrivals.at(-1)?.body.equals(harmless)).toBe(true);
  });

  test.each([10, 8_193, 20_000, 131_072, 131_073, 3_000_000])(
    'a harmless body of %i bytes arrives whole, with the headers it would have had without the detour',
    async (bytes) => {
      const body = `pad=${'y'.repeat(bytes - 4)}`;
      const answer = await ask({
        port: guarded.httpPort,
        path: '/upload?a=%20b',
        method: 'PUT',
        body,
        headers: {
          ...FORM,
          'x-sallyport-route': '1|6.6.6.6|80||1',
          'x-sallyport-client': '6.6.6.6 1 1 1',
          'x-forwarded-for': '6.6.6.6',
          expect: '100-continue',
        },
      });
      expect(answer.status).toBe(200);
      const arrival = origin.arrivals.at(-1);
      expect(arrival).toMatchObject({ method: 'PUT', url: '/upload?a=%20b' });
      expect(arrival?.body.toString()).toBe(body);
      expect(arrival?.headers).toMatchObject({
        host: 'guarded.test',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-proto': 'http',
        'x-real-ip': '127.0.0.1',
        'content-length': String(bytes),
      });
      expect(Object.keys(arrival?.headers ?? {})).not.toContain('x-sallyport-client');
      if (bytes > 10_000)
        expect(Object.keys(arrival?.headers ?? {}).join()).not.toMatch(/x-sallyport-(route|reference)/);
    },
  );

  test('a chunked body arrives whole, and its trailers do not arrive', async () => {
    const body = `pad=${'z'.repeat(50_000)}`;
    const framed = chunked(body, 4_000).replace(/0\r\n\r\n$/, '0\r\nX-Trailer: attack\r\n\r\n');
    expect(await exchange(guarded.httpPort, [head('Transfer-Encoding: chunked'), framed])).toMatch(/^HTTP\/1\.1 200 /);
    expect(origin.arrivals.at(-1)?.body.toString()).toBe(body);
    expect(JSON.stringify(origin.arrivals.at(-1)?.headers)).not.toContain('attack');
  });

  test('nor do the trailers of a body without content', async () => {
    const before = origin.arrivals.length;
    const framed = '0\r\nX-Trailer: attack\r\n\r\n';
    expect(await exchange(guarded.httpPort, [head('Transfer-Encoding: chunked'), framed])).toMatch(/^HTTP\/1\.1 200 /);
    expect(origin.arrivals).toHaveLength(before + 1);
    expect(origin.arrivals.at(-1)?.trailers).toEqual({});
  });

  test('a body over the limit is refused with 413, whether its length is announced or not', async () => {
    const announced = await statusLine(guarded.httpPort, head(`Content-Length: ${BODY_LIMIT + 1}`), 'pad=1');
    expect(announced).toMatch(/^HTTP\/1\.1 413 /);
    const part = `10000\r\n${'p'.repeat(65_536)}\r\n`;
    const parts = Array.from({ length: BODY_LIMIT / 65_536 + 2 }, () => part);
    expect(await statusLine(guarded.httpPort, head('Transfer-Encoding: chunked'), ...parts)).toMatch(/ 413 /);
  });

  test('a refused body is read on, so that HAProxy can hand over the refusal', async () => {
    const { relay } = guardFiles(guarded.dataDir, 0);
    const told =
      'X-Sallyport-Route: 1|127.0.0.1|1||1\r\nX-Sallyport-Client: 127.0.0.1 1 127.0.0.1 1\r\nX-Sallyport-Judge: 0 0\r\n';
    const text = await new Promise<string>((resolve, reject) => {
      let got = '';
      const socket = connect(relay, () => {
        socket.write(`POST / HTTP/1.1\r\nHost: guarded.test\r\n${told}Content-Length: ${BODY_LIMIT + 1}\r\n\r\n`);
      });
      socket.setEncoding('latin1').on('data', (chunk) => {
        got += chunk;
        if (!got.includes('\r\n\r\n')) return;
        // The body is sent only now, whole and one byte less: all of it is taken, and the connection stays open.
        socket.write('x'.repeat(BODY_LIMIT), (error) => {
          if (error) return reject(error);
          resolve(got);
          socket.destroy();
        });
      });
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('the relay closed the connection')));
    });
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('a client that goes away leaves nothing behind', async () => {
    const before = origin.arrivals.length;
    await new Promise<void>((resolve) => {
      const socket = connect(guarded.httpPort, '127.0.0.1', () => {
        socket.write(head('Content-Length: 1000000'));
        socket.write('pad='.padEnd(400_000, 'x'), () => socket.destroy());
      });
      socket.on('close', () => resolve());
    });
    expect((await ask({ port: guarded.httpPort, body: padded(300_000), headers: FORM })).status).toBe(403);
    expect(readdirSync(spoolDirectory(guarded.dataDir))).toEqual([]);
    expect(origin.arrivals.length).toBe(before);
  });

  /** Files of bodies that a guard still has open; they have no names any more. */
  const heldFiles = (pid: number): string[] =>
    readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
      try {
        const target = readlinkSync(`/proc/${pid}/fd/${descriptor}`);
        return target.startsWith(spoolDirectory(guarded.dataDir)) ? [target] : [];
      } catch {
        return [];
      }
    });

  test.each([
    ['was refused', 'attack', 403],
    ['was passed on', 'harmless', 200],
  ])('a body that %s is held no longer', async (_what, word, status) => {
    const body = padded(1_000_000).replace('attack', word);
    for (let i = 0; i < 4; i++) {
      expect((await ask({ port: guarded.httpPort, body, headers: FORM })).status).toBe(status);
    }
    await expect.poll(() => guarded.guards.flatMap(({ pid }) => heldFiles(pid))).toEqual([]);
    // Node closes a forgotten file some time, and says so.
    expect(guarded.guards.map((guard) => guard.output()).join('')).not.toContain('garbage collection');
  });

  test('an origin that is down is answered as without the detour, with one reference in page and header', async () => {
    await guarded.serve({ id: 2, names: ['down.test'], origin: { port: await freePort() } as never });
    const answer = await ask({
      port: guarded.httpPort,
      host: 'down.test',
      body: 'a='.padEnd(50_000, 'x'),
      headers: { ...FORM, accept: 'application/json' },
    });
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 503, reference: answer.headers['x-sallyport-reference'] });
  });

  test('a body whose answer came before it was read holds up nobody who comes after it', async () => {
    await guarded.serve({ id: 2, names: ['down.test'], origin: { port: await freePort() } as never });
    // Often enough for each guard to have had some.
    for (let i = 0; i < 8; i++) {
      const body = 'a='.padEnd(50_000, 'x');
      expect((await ask({ port: guarded.httpPort, host: 'down.test', body, headers: FORM })).status).toBe(503);
      expect((await ask({ port: guarded.httpPort, body, headers: FORM })).status).toBe(200);
    }
  });

  test('an answer streams back while the origin is still writing it', async () => {
    const port = await freePort();
    const sockets = new Set<Socket>();
    const release = Promise.withResolvers<void>();
    const slow = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(
          'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n6\r\nfirst\n\r\n',
        );
        void release.promise.then(() => socket.write('7\r\nsecond\n\r\n0\r\n\r\n'));
      });
    });
    await new Promise<void>((resolve) => slow.listen(port, '127.0.0.1', resolve));
    await guarded.serve({ id: 3, names: ['slow.test'], origin: { port } as never });
    const body = 'a='.padEnd(40_000, 'x');
    const text = await new Promise<string>((resolve) => {
      const socket = connect(guarded.httpPort, '127.0.0.1', () => {
        socket.write(head(`Content-Length: ${body.length}`).replace('guarded.test', 'slow.test') + body);
      });
      let got = '';
      socket.setEncoding('latin1').on('data', (chunk) => {
        got += chunk;
        // The second half is written only now, so the first has come through by itself.
        if (got.includes('first')) release.resolve();
      });
      socket.on('close', () => resolve(got));
    });
    expect(text).toContain('second');
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => slow.close(resolve));
  });
});
