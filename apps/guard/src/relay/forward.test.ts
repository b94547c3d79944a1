import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createForwarder } from './forward.ts';
import { createPlaces } from './places.ts';
import { responseFor } from './upgrade.ts';

let directory: string;
let relay: Server;
let origin: Server;
let now = 0;
const places = createPlaces({ total: 3, share: 3, now: () => now });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sp-forward-'));
  const forwarder = createForwarder(join(directory, 'origin'));
  origin = createServer().on('upgrade', (_incoming, socket: Socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    socket.on('error', () => {}).once('end', () => socket.end());
  });
  relay = createServer().on('upgrade', async (incoming, socket: Socket) => {
    socket.on('error', () => {});
    const place = places.enter('192.0.2.1');
    const response = responseFor(incoming, socket);
    const parts = { client: '192.0.2.1', body: undefined, inspect: undefined };
    await forwarder.forward({ incoming, response, place, socket, ...parts });
    place.leave();
  });
  await new Promise<void>((resolve) => origin.listen(join(directory, 'origin'), resolve));
  await new Promise<void>((resolve) => relay.listen(join(directory, 'relay'), resolve));
});
afterAll(() => {
  places.stop();
  for (const server of [relay, origin]) server.close();
  rmSync(directory, { recursive: true });
});

/** Opens a tunnel through the relay. */
const open = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket' };
    request({ socketPath: join(directory, 'relay'), headers })
      .once('upgrade', (_answer, socket) => resolve(socket.on('error', () => {}).resume()))
      .once('error', reject)
      .end();
  });

test('a tunnel that has to give way is cut', async () => {
  const [first, second] = [await open(), await open()];
  const isCut = new Promise<void>((resolve) => void first.once('close', () => resolve()));
  const others = [places.enter('192.0.2.2')];
  now += 40_000;
  others.push(places.enter('192.0.2.3'));
  await isCut;
  expect(second.destroyed).toBe(false);
  expect(places.inUse()).toBe(3);
  second.destroy();
  await expect.poll(places.inUse).toBe(2);
  for (const place of others) place.leave();
});
