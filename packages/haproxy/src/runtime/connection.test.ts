import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AnsweringSocket, answerAt, processInfo } from '../../../../test/support/haproxy/answering-socket.ts';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { createAdminSocket } from './admin-socket.ts';
import { type ConnectionOptions, followHaproxy } from './connection.ts';

const NEVER_MS = 1_000_000;

type Followed = {
  /** What `followHaproxy` told, in order. */
  told: string[];
  follower: ReturnType<typeof followHaproxy>;
  /** Listens in HAProxy's place, with another pid each time that this is asked for. */
  start(pid: () => number, uptimeSec?: number): Promise<AnsweringSocket>;
};

const followed = (options: Partial<ConnectionOptions>, work: (followed: Followed) => Promise<void>): Promise<void> =>
  withTemporaryDirectory(async (directory) => {
    const socketPath = join(directory, 'admin.sock');
    const told: string[] = [];
    const running: AnsweringSocket[] = [];
    const follower = followHaproxy({
      socketPath,
      socket: createAdminSocket({ path: socketPath }),
      retryMs: 5,
      checkMs: NEVER_MS,
      onConnected: async ({ pid, version }) => void told.push(`connected to ${pid}, ${version}`),
      onDisconnected: (reason) => void told.push(reason),
      ...options,
    });
    const start = async (pid: () => number, uptimeSec?: number) => {
      const socket = await answerAt(socketPath, () => processInfo(pid(), uptimeSec));
      running.push(socket);
      return socket;
    };
    try {
      await work({ told, follower, start });
    } finally {
      await follower.stop();
      for (const socket of running) await socket.stop().catch(() => {});
    }
  });

test('follows a process from when it is there until it dies, and then the next one', () =>
  followed({}, async ({ told, follower, start }) => {
    expect(follower.connection).toEqual({ state: 'disconnected', reason: 'not asked yet' });
    await expect.poll(() => follower.connection).toMatchObject({ reason: expect.stringContaining('ENOENT') });
    const first = await start(() => 7, 3_600);
    await expect.poll(() => follower.connection.state).toBe('connected');
    expect(follower.connection).toMatchObject({ pid: 7, version: '2.6.12' });
    const { connection } = follower;
    const since = connection.state === 'connected' ? Date.now() - connection.startedAt.getTime() : 0;
    expect(since).toBeGreaterThanOrEqual(3_600_000);
    expect(since).toBeLessThan(3_700_000);
    // One connection is held, and nothing is asked as long as it is there.
    expect(first.open()).toBe(1);
    expect(first.asked).toEqual(['prompt', 'show info']);
    await first.stop();
    await expect.poll(() => follower.connection.state).toBe('disconnected');
    await start(() => 8);
    await expect.poll(() => follower.connection).toMatchObject({ pid: 8 });
    expect(told).toEqual(['connected to 7, 2.6.12', 'HAProxy ended or was replaced', 'connected to 8, 2.6.12']);
  }));

test('sees that another process answers though the old one keeps its connection', () =>
  followed({ checkMs: 5 }, async ({ told, follower, start }) => {
    let pid = 7;
    const haproxy = await start(() => pid);
    await expect.poll(() => haproxy.asked.length).toBeGreaterThan(4);
    expect(told).toEqual(['connected to 7, 2.6.12']);
    pid = 8;
    await expect.poll(() => follower.connection).toMatchObject({ pid: 8 });
    expect(told).toEqual(['connected to 7, 2.6.12', 'HAProxy ended or was replaced', 'connected to 8, 2.6.12']);
    // Of the old one no connection is left.
    await expect.poll(haproxy.open).toBeLessThanOrEqual(2);
  }));

test('one that could not be looked over is not connected, and is looked over again', () => {
  let tries = 0;
  const onConnected = async () => {
    if (++tries < 3) throw new Error('a map is missing');
  };
  return followed({ onConnected }, async ({ told, follower, start }) => {
    const haproxy = await start(() => 7);
    const reasons = new Set<string>();
    await expect
      .poll(() => {
        const { connection } = follower;
        if (connection.state === 'disconnected') reasons.add(connection.reason);
        return connection.state;
      })
      .toBe('connected');
    expect(tries).toBe(3);
    expect(told).toEqual([]);
    await expect.poll(haproxy.open).toBe(1);
  });
});

test('one that is suspected counts as gone at once, and is looked over again', () =>
  followed({}, async ({ told, follower, start }) => {
    await start(() => 7);
    await expect.poll(() => follower.connection.state).toBe('connected');
    follower.suspect('a command was refused');
    expect(follower.connection).toEqual({ state: 'disconnected', reason: 'a command was refused' });
    await expect.poll(() => follower.connection.state).toBe('connected');
    expect(told).toEqual(['connected to 7, 2.6.12', 'a command was refused', 'connected to 7, 2.6.12']);
  }));

test('stops while it waits for the next look, and holds no connection from then on', () =>
  followed({}, async ({ follower, start }) => {
    const haproxy = await start(() => 7);
    await expect.poll(() => follower.connection.state).toBe('connected');
    await follower.stop();
    await expect.poll(haproxy.open).toBe(0);
    expect(haproxy.asked).toEqual(['prompt', 'show info']);
  }));

test('stops while it waits for HAProxy, and asks nobody from then on', () =>
  followed({ retryMs: NEVER_MS }, async ({ follower, start }) => {
    await expect.poll(() => follower.connection).toMatchObject({ reason: expect.stringContaining('ENOENT') });
    await follower.stop();
    expect((await start(() => 7)).asked).toEqual([]);
  }));
