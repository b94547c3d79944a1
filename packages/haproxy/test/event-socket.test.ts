import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask } from '../../../test/support/http-client.ts';

let directory: string;
let plane: RunningDataPlane;
let server: Server | undefined;
let lines: string[];
const sockets = new Set<Socket>();

const listen = async (): Promise<void> => {
  server = createServer((socket) => {
    sockets.add(socket);
    let rest = '';
    socket.on('data', (chunk) => {
      const parts = `${rest}${chunk}`.split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
  });
  await new Promise<void>((resolve) => server?.listen(join(directory, 'log.sock'), resolve));
};

const stopListening = async (): Promise<void> => {
  const closed = new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)));
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  await closed;
  server = undefined;
};

/** A request for a name that nobody serves: a line of its own, whose host tells it apart. */
const refuse = async (host: string): Promise<void> => {
  expect((await ask({ port: plane.httpPort, host })).status).toBe(404);
};

const hostsTold = (): string[] => lines.map((line) => JSON.parse(line).host);

/** CPU ticks of the worker, which the master forked. */
const ticks = (): number => {
  const children = readFileSync(`/proc/${plane.haproxy.pid}/task/${plane.haproxy.pid}/children`, 'utf8');
  const stat = readFileSync(`/proc/${children.trim().split(' ')[0]}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sp-events-'));
  lines = [];
  plane = await startDataPlane({ eventSocket: join(directory, 'log.sock') });
});
afterEach(async () => {
  await stopListening();
  await plane.stop();
  await rm(directory, { recursive: true, force: true });
});

test('lines wait for whoever is to read them, without a core being spent on looking for him', async () => {
  for (let index = 0; index < 20; index++) await refuse(`early-${index}.test`);
  const before = ticks();
  // Attempts to connect that follow each other at once take all of a core, 100 ticks of 10 ms in this time.
  await delay(1_000);
  expect(ticks() - before).toBeLessThan(10);
  await listen();
  await expect.poll(hostsTold).toEqual(Array.from({ length: 20 }, (_, index) => `early-${index}.test`));
});

test('a reader that comes back is told again', async () => {
  await listen();
  await refuse('first.test');
  await expect.poll(hostsTold).toContain('first.test');
  await stopListening();
  await refuse('nobody-reads.test');
  await listen();
  // What HAProxy writes before it sees the end of the connection may be gone; from the first line that comes, none is.
  let count = 0;
  const again = () => hostsTold().filter((host) => host.startsWith('again-'));
  await expect
    .poll(
      async () => {
        count += 1;
        await refuse(`again-${count}.test`);
        return again().length;
      },
      { interval: 200 },
    )
    .toBeGreaterThan(0);
  count += 1;
  await refuse(`again-${count}.test`);
  // Threads may tell two in either order.
  const missing = (): number[] => {
    const told = new Set(again().map((host) => Number(host.replace(/\D/g, ''))));
    const first = Math.min(...told);
    return Array.from({ length: count - first + 1 }, (_, index) => first + index).filter((number) => !told.has(number));
  };
  await expect.poll(missing).toEqual([]);
});
