import { readdirSync, readFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { listen } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';

let plane: RunningDataPlane;
let origin: { port: number; stop(): Promise<void> };
/** Connections to an origin that reads requests and never answers. */
const held = new Set<Socket>();

beforeAll(async () => {
  const hanging = createServer((socket) => {
    held.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => held.delete(socket));
    socket.resume();
  });
  [plane, origin] = await Promise.all([startDataPlane(), listen(hanging)]);
  await plane.serve(givenHost({ names: ['hangs.example.com'], origin }));
});
afterAll(async () => {
  for (const socket of held) socket.destroy();
  await plane.stop();
  await origin.stop();
});

/** Descriptors of the worker, which the master forked. */
const descriptors = (): number => {
  const children = readFileSync(`/proc/${plane.haproxy.pid}/task/${plane.haproxy.pid}/children`, 'utf8');
  return readdirSync(`/proc/${children.trim().split(' ')[0]}/fd`).length;
};

const CLIENTS = 50;
const REQUEST = 'Host: hangs.example.com\r\n';

test.each([
  ['GET', `GET / HTTP/1.1\r\n${REQUEST}\r\n`],
  ['POST with its body', `POST / HTTP/1.1\r\n${REQUEST}Content-Length: 3\r\n\r\nabc`],
  ['POST with half of its body', `POST / HTTP/1.1\r\n${REQUEST}Content-Length: 6\r\n\r\nabc`],
])('clients that leave an origin that hangs (%s) leave nothing open', async (_what, request) => {
  const before = descriptors();
  const clients = Array.from({ length: CLIENTS }, () => connect(plane.httpPort, '127.0.0.1'));
  for (const client of clients) client.write(request);
  await expect.poll(() => held.size).toBe(CLIENTS);
  for (const client of clients) client.destroy();
  await expect.poll(() => held.size).toBe(0);
  await expect.poll(descriptors).toBeLessThanOrEqual(before);
});

test('streams of HTTP/2 that are given up leave nothing open', async () => {
  const client = connectHttp2(`https://hangs.example.com:${plane.httpsPort}`, {
    lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    rejectUnauthorized: false,
  });
  const streams = Array.from({ length: CLIENTS }, () =>
    client.request({ ':path': '/', ':authority': 'hangs.example.com' }),
  );
  for (const stream of streams) stream.on('error', () => undefined);
  await expect.poll(() => held.size).toBe(CLIENTS);
  for (const stream of streams) stream.close(8);
  await expect.poll(() => held.size).toBe(0);
  client.destroy();
});
