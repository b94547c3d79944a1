import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export type HaproxyProcess = {
  readonly pid: number;
  /** Everything it wrote: its own notices and the log lines. */
  output(): string;
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
    exited,
    kill: (signal = 'SIGKILL') => child.kill(signal),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
};
