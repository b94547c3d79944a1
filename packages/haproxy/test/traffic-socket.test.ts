import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { startOrigin } from '../../../test/support/haproxy/origins.ts';
import { startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask } from '../../../test/support/http-client.ts';

type Line = Record<string, unknown>;

let directory: string;
const stops: (() => Promise<unknown>)[] = [];

/** Everything that HAProxy tells on this socket. */
const listen = async (path: string): Promise<Line[]> => {
  const lines: Line[] = [];
  const server = createServer((socket) => {
    let rest = '';
    stops.push(async () => socket.destroy());
    socket.on('data', (chunk) => {
      const parts = `${rest}${chunk}`.split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts.map((part): Line => JSON.parse(part)));
    });
  });
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  stops.push(async () => void server.close());
  return lines;
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sp-traffic-'));
});
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  await rm(directory, { recursive: true, force: true });
});

const start = async (sockets: { eventSocket?: string; trafficSocket?: string }) => {
  const plane = await startDataPlane(sockets);
  stops.push(plane.stop);
  const origin = await startOrigin('plain', (_request, response) => response.end('fine'));
  stops.push(origin.stop);
  await plane.serve(givenHost({ names: ['a.test'], origin }));
  return plane;
};

test('every request is told where that is wanted, and nobody else is told more than before', async () => {
  const paths = { eventSocket: join(directory, 'log.sock'), trafficSocket: join(directory, 'traffic.sock') };
  const [events, told] = [await listen(paths.eventSocket), await listen(paths.trafficSocket)];
  const plane = await start(paths);
  const headers = { 'user-agent': 'probe "1"' };
  expect((await ask({ port: plane.httpPort, host: 'a.test', path: '/fine?a=%22b', headers })).status).toBe(200);
  expect(
    (await ask({ port: plane.httpPort, host: 'a.test', path: '/up', method: 'POST', body: 'x', headers })).status,
  ).toBe(200);
  expect((await ask({ port: plane.httpPort, host: 'nobody.test', path: '/none', headers })).status).toBe(404);
  // Each is told when it has ended, by whichever thread it had: two that follow one another may be told the other way round.
  await expect.poll(() => told.map(({ uri }) => uri).sort()).toEqual(['/fine?a=%22b', '/none', '/up']);
  const of = (path: string) => told.find(({ uri }) => uri === path);
  expect(of('/fine?a=%22b')).toMatchObject({
    status: 200,
    method: 'GET',
    host: 'a.test',
    client: '127.0.0.1',
    user_agent: 'probe "1"',
  });
  expect(of('/up')).toMatchObject({ status: 200, method: 'POST' });
  expect(of('/none')).toMatchObject({ status: 404, host: 'nobody.test' });
  await expect.poll(() => events.map(({ host }) => host)).toEqual(['nobody.test']);
});

test('without anybody who wants it, what went as it should is not told', async () => {
  const path = join(directory, 'log.sock');
  const events = await listen(path);
  const plane = await start({ eventSocket: path });
  expect((await ask({ port: plane.httpPort, host: 'a.test', path: '/fine' })).status).toBe(200);
  expect((await ask({ port: plane.httpPort, host: 'nobody.test' })).status).toBe(404);
  await expect.poll(() => events.map(({ host, uri }) => [host, uri])).toEqual([['nobody.test', '-']]);
});
