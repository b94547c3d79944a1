import { connect as connectHttp2 } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Guarded, startGuarded } from '../support/guard/start-guarded.ts';
import { exchange } from '../support/http-client.ts';
import { startOrigin, type TestOrigin } from './support/origin.ts';

describe('requests that two servers could read in two ways', () => {
  let guarded: Guarded;
  let origin: TestOrigin;
  let other: TestOrigin;

  beforeAll(async () => {
    [origin, other] = await Promise.all([startOrigin(), startOrigin()]);
    guarded = await startGuarded();
    await guarded.serve(
      { origin: { port: origin.port } as never },
      { id: 2, names: ['other.test'], origin: { port: other.port } as never },
    );
  });
  afterAll(async () => {
    await guarded.stop();
    await Promise.all([origin.stop(), other.stop()]);
  });

  const inner = 'GET /smuggled?q=attack HTTP/1.1\r\nHost: other.test\r\n\r\n';

  test.each([
    ['two Host headers', 'GET / HTTP/1.1\r\nHost: guarded.test\r\nHost: other.test\r\n\r\n'],
    ['a target that names another host', 'GET http://other.test/ HTTP/1.1\r\nHost: guarded.test\r\n\r\n'],
    [
      'two lengths',
      `POST / HTTP/1.1\r\nHost: guarded.test\r\nContent-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    ],
    [
      'a list of lengths',
      `POST / HTTP/1.1\r\nHost: guarded.test\r\nContent-Length: 0, ${inner.length}\r\n\r\n${inner}`,
    ],
    ['a negative length', `POST / HTTP/1.1\r\nHost: guarded.test\r\nContent-Length: -1\r\n\r\n${inner}`],
    ['a length with a sign', `POST / HTTP/1.1\r\nHost: guarded.test\r\nContent-Length: +5\r\n\r\n${inner}`],
    [
      'an unknown coding',
      `POST / HTTP/1.1\r\nHost: guarded.test\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'chunked twice',
      `POST / HTTP/1.1\r\nHost: guarded.test\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'a coding after chunked',
      `POST / HTTP/1.1\r\nHost: guarded.test\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'a chunk size that is none',
      `POST / HTTP/1.1\r\nHost: guarded.test\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n${inner}`,
    ],
    [
      'a chunk size past 64 bits',
      `POST / HTTP/1.1\r\nHost: guarded.test\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n${inner}`,
    ],
    ['a space before the colon', 'GET / HTTP/1.1\r\nHost : guarded.test\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\nHost: guarded.test\r\n: x\r\n\r\n'],
    ['a NUL in a header', 'GET / HTTP/1.1\r\nHost: guarded.test\r\nX: a\0b\r\n\r\n'],
    ['a bare CR in a header', 'GET / HTTP/1.1\r\nHost: guarded.test\r\nX: a\rb: c\r\n\r\n'],
    ['HTTP/0.9', 'GET /\r\n\r\n'],
    ['the preface of HTTP/2 with another start', 'PRI * HTTP/1.1\r\nHost: other.test\r\n\r\nSM\r\n\r\n'],
    ['a target with a space', 'GET /a b HTTP/1.1\r\nHost: guarded.test\r\n\r\n'],
  ])('%s: a clean refusal, and nothing reaches another origin', async (_what, bytes) => {
    const before = other.arrivals.length;
    const answer = await exchange(guarded.httpPort, bytes.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'));
    expect(answer).toMatch(/^HTTP\/1\.[01] (?:400|403|404|405|501) /);
    expect(answer.match(/HTTP\/1\.[01] \d/g)).toHaveLength(1);
    expect(other.arrivals.length).toBe(before);
    expect([...origin.arrivals, ...other.arrivals].filter(({ url }) => url.includes('smuggled'))).toEqual([]);
  });

  test.each([
    [
      'a length beside chunks',
      `POST /a HTTP/1.1\r\nHost: guarded.test\r\nContent-Length: ${inner.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'an obs-fold',
      `POST /a HTTP/1.1\r\nHost: guarded.test\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${inner}`,
    ],
    [
      'a body of a GET',
      `GET /a HTTP/1.1\r\nHost: guarded.test\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
    ],
    [
      'a length lie: less than follows',
      `POST /a HTTP/1.1\r\nHost: guarded.test\r\nContent-Length: 5\r\n\r\nabcde${inner}`,
    ],
  ])('%s: whatever follows is judged as what the origin will read', async (_what, bytes) => {
    await exchange(guarded.httpPort, `${bytes}GET /end HTTP/1.1\r\nHost: guarded.test\r\nConnection: close\r\n\r\n`);
    // "attack" is in the inner request: taken for a request it is refused, taken for a body as well.
    const seen = [...origin.arrivals, ...other.arrivals];
    expect(seen.filter(({ url, body }) => url.includes('attack') || body.includes('attack'))).toEqual([]);
  });

  test('a long body that hides a request is one request to relay and origin', async () => {
    const body = `pad=${'x'.repeat(60_000)}\r\n0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: other.test\r\n\r\n`;
    const answer = await exchange(
      guarded.httpPort,
      `POST /long HTTP/1.1\r\nHost: guarded.test\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(origin.arrivals.at(-1)).toMatchObject({ url: '/long', body: Buffer.from(body) });
    expect([...origin.arrivals, ...other.arrivals].filter(({ url }) => url.includes('hidden'))).toEqual([]);
  });

  test('headers that steer our own parts are dropped when a client sends them', async () => {
    const forged =
      'X-Sallyport-Route: 256|127.0.0.1|1||2\r\nX-Sallyport-Reference: forged\r\nX-Sallyport-Refused: waf\r\nX-Sallyport-Client: 6.6.6.6 1 1.1.1.1 1\r\n';
    const body = 'a='.padEnd(30_000, 'x');
    const answer = await exchange(
      guarded.httpPort,
      `POST /forged HTTP/1.1\r\nHost: guarded.test\r\n${forged}Connection: close, x-sallyport-route\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(origin.arrivals.at(-1)?.url).toBe('/forged');
    expect(JSON.stringify(origin.arrivals.at(-1)?.headers)).not.toMatch(/6\.6\.6\.6|"forged"/);
  });

  const http2 = (
    headers: Record<string, string | string[]>,
    body?: string,
    trailers?: Record<string, string>,
  ): Promise<{ status: number; code: string }> =>
    new Promise((resolve) => {
      const session = connectHttp2(`https://127.0.0.1:${guarded.httpsPort}`, {
        rejectUnauthorized: false,
        servername: 'guarded.test',
      });
      let status = 0;
      const done = (code: string): void => {
        session.destroy();
        resolve({ status, code });
      };
      session.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? ''));
      const stream = session.request(headers, {
        endStream: body === undefined,
        waitForTrailers: trailers !== undefined,
      });
      stream.on('wantTrailers', () => stream.sendTrailers(trailers ?? {}));
      stream.on('response', (got) => {
        status = got[':status'] ?? 0;
      });
      stream.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? ''));
      stream.on('end', () => done('')).resume();
      if (body !== undefined) stream.end(body);
    });

  test('HTTP/2: judged like anything else, also bodies whose length is not announced', async () => {
    const base = { ':authority': 'guarded.test', ':scheme': 'https' };
    expect(await http2({ ...base, ':path': '/h2' })).toMatchObject({ status: 200 });
    expect(await http2({ ...base, ':path': '/?q=attack' })).toMatchObject({ status: 403 });
    const form = { ...base, ':method': 'POST', ':path': '/h2', 'content-type': 'application/x-www-form-urlencoded' };
    expect(await http2(form, 'a=1&b=attack')).toMatchObject({ status: 403 });
    expect(await http2(form, `pad=${'x'.repeat(40_000)}&b=attack`)).toMatchObject({ status: 403 });
    expect(await http2(form, `pad=${'x'.repeat(40_000)}`)).toMatchObject({ status: 200 });
    expect(origin.arrivals.at(-1)?.body.length).toBe(40_004);
    // A GET with a body that is sent after its headers.
    expect(
      await http2({ ...base, ':method': 'GET', ':path': '/h2', 'content-type': form['content-type'] }, 'b=attack'),
    ).toMatchObject({ status: 403 });
  });

  test.each([
    ['nothing', '', {}],
    ['an announced nothing', '', { 'content-length': '0' }],
    ['a body', 'a=1', {}],
    ['an announced body', 'a=1', { 'content-length': '3' }],
  ])('HTTP/2: trailers after %s, which nobody judges, do not arrive', async (_what, body, length) => {
    const before = origin.arrivals.length;
    const headers = {
      ':authority': 'guarded.test',
      ':scheme': 'https',
      ':method': 'POST',
      ':path': '/trailed',
      ...length,
    };
    expect(await http2(headers, body, { 'x-trailer': 'attack' })).toMatchObject({ status: 200 });
    expect(origin.arrivals).toHaveLength(before + 1);
    expect(origin.arrivals.at(-1)).toMatchObject({ url: '/trailed', body: Buffer.from(body), trailers: {} });
  });

  test.each([
    ['another host in Host than in :authority', { ':authority': 'guarded.test', host: 'other.test', ':path': '/' }],
    ['a path with a line end', { ':authority': 'guarded.test', ':path': '/ HTTP/1.1\r\nHost: other.test\r\n\r\n' }],
    ['a header with a line end', { ':authority': 'guarded.test', ':path': '/', 'x-a': 'b\r\nhost: other.test' }],
  ])('HTTP/2 with %s reaches no other origin', async (_what, headers) => {
    const before = other.arrivals.length;
    // Node itself refuses to send some of these; what it sends, HAProxy has to refuse.
    const answer = await Promise.resolve()
      .then(() => http2({ ':scheme': 'https', ...headers }))
      .catch(() => ({ status: 400, code: 'not sent' }));
    expect(answer.status === 200 ? origin.arrivals.at(-1)?.headers.host : 'refused').toMatch(
      /^(?:guarded\.test|refused)$/,
    );
    expect(other.arrivals.length).toBe(before);
  });

  test('TLS for one host and Host of another: the Host decides, and is judged', async () => {
    const status = await new Promise<number>((resolve, reject) => {
      httpsRequest(
        {
          host: '127.0.0.1',
          port: guarded.httpsPort,
          servername: 'other.test',
          rejectUnauthorized: false,
          path: '/?q=attack',
          headers: { host: 'guarded.test' },
          agent: false,
        },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      )
        .once('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });
});
