import { connect as connectHttp2 } from 'node:http2';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { type Origin, startOrigin } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask, exchange } from '../../../test/support/http-client.ts';

import { createAdminSocket } from '../src/runtime/admin-socket.ts';
import { readTrafficCounters, type TrafficReading } from '../src/runtime/traffic-counters.ts';

const HOST = 'counted.example.com';
const BODY_BYTES = 50_000;

let plane: RunningDataPlane;
let origin: Origin;
beforeAll(async () => {
  [plane, origin] = await Promise.all([
    startDataPlane(),
    startOrigin('counted', (request, response) => {
      request.resume();
      request.once('end', () => {
        response.statusCode = Number(request.url?.slice(1) || 200);
        response.end('x'.repeat(1_000));
      });
    }),
  ]);
});
afterAll(async () => {
  await origin.stop();
  await plane.stop();
});

const read = (): Promise<TrafficReading> =>
  readTrafficCounters(createAdminSocket({ path: plane.settings.adminSocket }));

const sumOf = ({ counters }: TrafficReading): number =>
  Object.values(counters.requests).reduce((sum, count) => sum + count, 0);

/** Requests on one HTTP/2 connection, one after the other. */
const overHttp2 = async (...requests: { method: string; path: string; body?: string }[]): Promise<void> => {
  const session = connectHttp2(`https://127.0.0.1:${plane.httpsPort}`, { rejectUnauthorized: false, servername: HOST });
  for (const { method, path, body } of requests) {
    const stream = session.request({ ':method': method, ':path': path, ':authority': HOST });
    stream.end(body);
    await stream.resume().toArray();
  }
  session.close();
};

test('each request counts once, however it came and whatever became of it, and a new HAProxy begins at 0', async () => {
  await plane.serve(
    givenHost({ names: [HOST], origin }),
    givenHost({ names: ['gone.example.com'], origin: { port: 1 } }),
  );
  const plain = { port: plane.httpPort, host: HOST };
  const secure = { port: plane.httpsPort, host: HOST, tls: true };
  const body = 'b'.repeat(BODY_BYTES);
  for (const path of ['/200', '/404', '/500']) await ask({ ...plain, path });
  await ask({ ...secure, body });
  await ask({ ...plain, host: 'nobody.example.com' });
  await ask({ ...plain, host: 'gone.example.com' });
  // Before HAProxy 3.0 those that may not be repeated go through the frontend twice, unless they are their connection's first.
  const post = { method: 'POST', path: '/200', body };
  await overHttp2({ method: 'GET', path: '/302' }, post, post, { ...post, path: '/503' });
  const again = `POST /201 HTTP/1.1\r\nhost: ${HOST}\r\ncontent-length: 1\r\n`;
  await exchange(plane.httpPort, `${again}\r\na${again}connection: close\r\n\r\na`);
  await exchange(plane.httpPort, 'no request at all\r\n\r\n');

  // HAProxy counts a request when it has ended its stream, which is after the client has its answer.
  const counted = { '1xx': 0, '2xx': 6, '3xx': 1, '4xx': 3, '5xx': 3, other: 0 };
  await eventually(async () => (await read()).counters.requests).toEqual(counted);
  const reading = await read();
  expect(reading.counters.requests).toEqual(counted);
  expect(reading.counters.bytesIn).toBeGreaterThan(4 * BODY_BYTES);
  expect(reading.counters.bytesIn).toBeLessThan(4.5 * BODY_BYTES);
  expect(reading.counters.bytesOut).toBeGreaterThan(10_000);

  plane.haproxy.kill('SIGTERM');
  await plane.haproxy.exited;
  await expect(read()).rejects.toThrow(/did not answer/);
  await plane.restartHaproxy();
  const fresh = await read();
  expect(sumOf(fresh)).toBe(0);
  expect(fresh.process).not.toBe(reading.process);
  expect(fresh.startedAt.getTime()).toBeGreaterThanOrEqual(reading.startedAt.getTime());
});
