import { createServer } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Guarded, startGuarded } from '../support/guard/start-guarded.ts';

describe('an origin that reads a request and hangs up', () => {
  let guarded: Guarded;
  const arrivals: { url: string; bytes: number }[] = [];
  const origin = createServer(async (request, response) => {
    const { length } = Buffer.concat(await request.toArray());
    arrivals.push({ url: request.url ?? '', bytes: length });
    if (request.method === 'GET') response.end('served');
    else request.socket.destroy();
  });

  beforeAll(async () => {
    guarded = await startGuarded();
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    await guarded.serve({ origin: { port: (origin.address() as AddressInfo).port } as never });
  });
  afterAll(async () => {
    await guarded.stop();
    origin.closeAllConnections();
    origin.close();
  });

  test.each([
    ['a short body, judged at once', 5],
    ['a long body, through the relay', 60_000],
  ])('%s: one run, 502, a line in the log, over HTTP/2', async (_what, bytes) => {
    const session = connectHttp2(`https://127.0.0.1:${guarded.httpsPort}`, { rejectUnauthorized: false });
    const ask = (method: string, path: string, body?: string) =>
      new Promise<{ status: number; reference: string }>((resolve, reject) => {
        const stream = session.request(
          {
            ':method': method,
            ':path': path,
            ':authority': 'guarded.test',
            ...(body === undefined
              ? {}
              : { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length }),
          },
          { endStream: body === undefined },
        );
        stream.on('error', reject);
        stream.on('response', (headers) =>
          resolve({ status: Number(headers[':status']), reference: String(headers['x-sallyport-reference']) }),
        );
        stream.resume();
        if (body !== undefined) stream.end(body);
      });
    await Promise.all([ask('GET', '/'), ask('GET', '/')]);
    arrivals.length = 0;
    const { status, reference } = await ask('POST', '/order', 'a='.padEnd(bytes, 'x'));
    expect(status).toBe(502);
    expect(arrivals).toEqual([{ url: '/order', bytes }]);
    const lines = () => guarded.haproxyOutput().split('\n');
    await expect
      .poll(() => lines().filter((line) => line.includes(reference) && line.includes('"status":502')))
      .not.toEqual([]);
    session.destroy();
  });
});
