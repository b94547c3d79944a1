import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import type { Counts } from './tell/counts.ts';
import type { Adoption } from './threads/run-thread.ts';

/** What a worker says of itself. */
export interface GuardStats extends Counts {
  instance: string;
  worker: number;
  pid: number;
  /** Configuration in force; 0 while there is none. */
  revision: number;
  /** Whether the server takes in what this worker tells. */
  log_connected: boolean;
}

export interface ControlDeps {
  path: string;
  /** Puts the configuration on disk in force. */
  adopt: () => Promise<Adoption>;
  stats: () => GuardStats;
}

const MAX_LINE_BYTES = 1_024;

/**
 * Answers lines of JSON on a unix socket with one line each: `{"revision": n}` loads the configuration on disk and
 * answers `{"revision", "diagnostics"}` once it judges (the revision in force, and why not the newer one);
 * `{"stats": true}` answers `GuardStats`.
 */
export const startControl = async ({ path, adopt, stats }: ControlDeps): Promise<{ stop(): Promise<void> }> => {
  const sockets = new Set<Socket>();

  const answer = async (line: string): Promise<unknown> => {
    let question: { revision?: unknown; stats?: unknown };
    try {
      question = JSON.parse(line) as typeof question;
    } catch {
      return { error: 'not JSON' };
    }
    if (typeof question?.revision === 'number') return adopt();
    return question?.stats === true ? stats() : { error: 'unknown question' };
  };

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    let rest = '';
    let turn: Promise<void> = Promise.resolve();
    socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE_BYTES) return void socket.destroy();
      for (const line of lines) {
        turn = turn.then(async () => {
          const reply = await answer(line).catch((error: unknown) => ({ error: String(error) }));
          if (!socket.destroyed) socket.write(`${JSON.stringify(reply)}\n`);
        });
      }
    });
  });
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return {
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
};
