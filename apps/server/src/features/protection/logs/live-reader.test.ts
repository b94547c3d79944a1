import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { LogEntry } from '@sallyport/contract';
import { afterEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { createLogHub } from './hub.ts';
import { serveLiveReader } from './live-reader.ts';

const servers: WebSocketServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    for (const client of server.clients) client.terminate();
    server.close();
  }
});

const entry = (message: string): LogEntry => ({
  level: 'info',
  message,
  timestamp: '2026-11-20T12:00:00.000Z',
  source: 'guard',
  fields: {},
});

const connectReader = async (pingMs: number, options: { autoPong: boolean }) => {
  const hub = createLogHub(10);
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  servers.push(server);
  server.on('connection', (socket) =>
    serveLiveReader(socket, hub, {}, 0, {
      pingMs,
      maxBufferedBytes: 1_000_000,
      onCutOff: () => {},
      show: (entry) => entry,
    }),
  );
  await new Promise<void>((resolve) => server.once('listening', resolve));
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
  let pings = 0;
  client.on('ping', () => {
    pings += 1;
  });
  await new Promise<void>((resolve) => client.once('open', () => resolve()));
  return { hub, client, pings: () => pings };
};

test('pings again and again, and keeps a client that answers', async () => {
  const { hub, client, pings } = await connectReader(400, { autoPong: true });
  await eventually(pings).toBeGreaterThan(2);
  expect(client.readyState).toBe(WebSocket.OPEN);
  expect(hub.readers()).toBe(1);
});

test('drops a client that answers no ping', async () => {
  const { hub, client, pings } = await connectReader(400, { autoPong: false });
  await eventually(() => hub.readers()).toBe(1);
  const [code] = await once(client, 'close');
  // Without a closing message, which it would not answer either, and asked once before.
  expect([code, pings()]).toEqual([1006, 1]);
  await eventually(() => hub.readers()).toBe(0);
});

test('forgets a client that leaves', async () => {
  const { hub, client } = await connectReader(10_000, { autoPong: true });
  await eventually(() => hub.readers()).toBe(1);
  const message = once(client, 'message');
  hub.publish(entry('to one'));
  expect(JSON.parse(String((await message)[0]))).toEqual(entry('to one'));
  client.close();
  await eventually(() => hub.readers()).toBe(0);
});

test('remembers the newest entries only', () => {
  const hub = createLogHub(3);
  for (const message of ['a', 'b', 'c', 'd', 'e']) hub.publish(entry(message));
  expect(hub.recent({}, 10).map(({ message }) => message)).toEqual(['c', 'd', 'e']);
  expect(hub.recent({}, 2).map(({ message }) => message)).toEqual(['d', 'e']);
  expect(hub.recent({ source: 'acl' }, 2)).toEqual([]);
});
