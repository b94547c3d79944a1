import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createLogClient } from './log-client.ts';

describe('what a guard tells', () => {
  let directory: string;
  let path: string;
  let lines: string[];
  let server: Server | undefined;
  const sockets = new Set<Socket>();

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'sp-log-'));
    path = join(directory, 'log.sock');
    lines = [];
  });
  const close = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
    server = undefined;
  };
  afterEach(async () => {
    await close();
    rmSync(directory, { recursive: true });
  });

  const listen = async (onSocket: (socket: Socket) => void): Promise<void> => {
    const listening = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      onSocket(socket);
    });
    server = listening;
    await new Promise<void>((resolve) => listening.listen(path, resolve));
  };
  const collect = (socket: Socket): void => {
    let rest = '';
    socket.setEncoding('utf8').on('data', (text) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      lines.push(...parts);
    });
  };

  const client = (onDropped: () => void = () => {}) => createLogClient({ path, onDropped, onConnected: () => {} });

  test('waits for a server that is not there yet, and comes in order', async () => {
    const log = client();
    for (let i = 0; i < 500; i++) log.send(`line ${i}`);
    await listen(collect);
    await expect.poll(() => lines.length).toBe(500);
    expect(lines).toEqual(Array.from({ length: 500 }, (_, i) => `line ${i}`));
    await log.stop();
    expect(log.isConnected()).toBe(false);
  });

  test('goes on after a restart of the server', async () => {
    await listen(collect);
    let connected = 0;
    const onConnected = () => {
      connected += 1;
    };
    const log = createLogClient({ path, onDropped: () => {}, onConnected });
    log.send('before');
    await expect.poll(() => lines).toEqual(['before']);
    expect(connected).toBe(1);
    await close();
    rmSync(path, { force: true });
    await expect.poll(() => log.isConnected()).toBe(false);
    log.send('meanwhile');
    await listen(collect);
    await expect.poll(() => lines).toEqual(['before', 'meanwhile']);
    expect(connected).toBe(2);
    await log.stop();
  });

  test('is dropped and counted, not kept, when the server reads nothing', async () => {
    await listen((socket) => socket.pause());
    let dropped = 0;
    const log = client(() => {
      dropped += 1;
    });
    const line = 'x'.repeat(1_000);
    const total = 20_000;
    for (let i = 0; i < total; i++) log.send(line);
    // What may wait is bounded by lines (4,000) and bytes (4 MiB), besides what the socket holds.
    expect(dropped).toBeGreaterThan(total - 6_000);
    await log.stop();
  });
});
