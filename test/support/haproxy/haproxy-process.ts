import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'vitest';

export type HaproxyProcess = {
  readonly pid: number;
  /** Everything it wrote: its own notices and the log lines. */
  output(): string;
  /** The request it logged under a reference, once that line is whole. */
  logged(reference: string): Promise<Record<string, unknown>>;
  exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  kill(signal?: NodeJS.Signals): void;
  stop(): Promise<void>;
};

/** Starts HAProxy in master-worker mode in the foreground. */
export const spawnHaproxy = (config: string): HaproxyProcess => {
  const child: ChildProcess = spawn(process.env.HAPROXY ?? '/usr/sbin/haproxy', ['-W', '-f', config], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8');
    stream?.on('data', (text: string) => {
      output += text;
    });
  }
  const exited = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  return {
    pid: child.pid ?? 0,
    output: () => output,
    async logged(reference) {
      const find = () =>
        output
          .split('\n')
          .slice(0, -1)
          .find((line) => line.startsWith('{') && line.includes(reference));
      await expect.poll(find).toBeDefined();
      return JSON.parse(find() ?? '');
    },
    exited,
    kill: (signal = 'SIGKILL') => child.kill(signal),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
};
