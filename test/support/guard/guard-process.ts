import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { guardFiles } from '@sallyport/deployment/places';
import type { GuardStats } from '@sallyport/guard/control';

const main = fileURLToPath(new URL('../../../apps/guard/src/main.ts', import.meta.url));

/** Asks a worker on its control socket; rejects when it does not answer. */
export const askGuard = <T>(dataDir: string, index: number, question: object): Promise<T> =>
  new Promise((resolve, reject) => {
    const socket = connect(guardFiles(dataDir, index).control, () => socket.write(`${JSON.stringify(question)}\n`));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
      if (!text.includes('\n')) return;
      socket.destroy();
      resolve(JSON.parse(text) as T);
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the guard closed the connection')));
  });

export interface GuardProcess {
  pid: number;
  output(): string;
  exited: Promise<unknown>;
  kill(signal: NodeJS.Signals): void;
  /** Stops all of its threads; resolves when none runs any more, which may be a while after the signal. */
  freeze(): Promise<void>;
  stats(): Promise<GuardStats>;
  adopt(revision: number): Promise<{ revision: number; diagnostics: string[] }>;
}

/** Starts one worker; resolves when it answers on its control socket. */
export const startGuard = async (dataDir: string, index: number): Promise<GuardProcess> => {
  const child: ChildProcess = spawn(process.execPath, [main, '--index', String(index), '--data-dir', dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const exited = once(child, 'exit');
  const stats = () => askGuard<GuardStats>(dataDir, index, { stats: true });
  for (;;) {
    const { pid } = await stats().catch(() => ({ pid: 0 }));
    if (pid === child.pid) break;
    if (child.exitCode !== null) throw new Error(`guard ${index} did not start:\n${output}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    pid: child.pid ?? 0,
    output: () => output,
    exited,
    kill: (signal) => void child.kill(signal),
    async freeze() {
      child.kill('SIGSTOP');
      const tasks = `/proc/${child.pid}/task`;
      const isRunning = (task: string): boolean => !/\) T /.test(readFileSync(`${tasks}/${task}/stat`, 'latin1'));
      while (readdirSync(tasks).some(isRunning)) await new Promise((resolve) => setTimeout(resolve, 5));
    },
    stats,
    adopt: (revision) => askGuard(dataDir, index, { revision }),
  };
};
