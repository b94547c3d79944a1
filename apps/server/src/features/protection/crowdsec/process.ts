import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { readProcess } from '@sallyport/deployment/processes';
import { endProcess } from './ending.ts';
import { crowdsecEnvironment, type Instance } from './instance.ts';
import { reasonIn } from './words.ts';

/** Lines of its log that are kept to tell why it ended. */
const LINES_KEPT = 40;
const LONGEST_LINE = 2_000;

export interface CrowdsecProcess {
  pid: number;
  startTime: string;
  isRunning(): boolean;
  /** Its scenarios are loaded: it judges what is logged from now on. */
  isReading(): boolean;
  /** Has it read its configuration anew; until it has, it does not read. */
  reload(): void;
  /** The last of its last lines that is such a one. */
  lastSaid(is: (line: string) => boolean): string | undefined;
  /** Why it ended, in words; resolves only then. */
  ended: Promise<string>;
  /** Ends it, after `politeMs` by force; by default it has the time it takes. */
  stop(politeMs?: number): Promise<void>;
}

/** Starts CrowdSec on an instance that has been prepared. Rejects when it can't be started at all. */
export const startProcess = async ({ account, program }: Instance): Promise<CrowdsecProcess> => {
  const [command, args] = account.wrap(program.daemon, ['-c', `${account.view}/etc/config.yaml`]);
  const child = spawn(command, args, {
    env: crowdsecEnvironment(),
    cwd: account.cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  let isReading = false;
  let isRunning = true;
  // Read to the end, whatever is told: a full pipe would stop it.
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.includes('Starting processing data')) isReading = true;
    lines.push(line.slice(0, LONGEST_LINE));
    if (lines.length > LINES_KEPT) lines.shift();
  });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', () => {
      isRunning = false;
    });
    // What it said last comes before this.
    child.once('close', (code, signal) => {
      const how = signal ? `it was ended by ${signal}` : `it ended with code ${code ?? 0}`;
      const reason = reasonIn(lines);
      resolve(reason === undefined ? how : `${how}: ${reason}`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(new Error(`${command} can't be started`, { cause })));
  });
  const pid = child.pid as number;
  const startTime = readProcess(pid)?.startTime ?? '';
  return {
    pid,
    startTime,
    isRunning: () => isRunning,
    isReading: () => isRunning && isReading,
    reload() {
      isReading = false;
      process.kill(pid, 'SIGHUP');
    },
    lastSaid: (is) => lines.findLast(is),
    ended,
    async stop(politeMs) {
      if (isRunning) await endProcess({ pid, startTime }, politeMs);
      await ended;
    },
  };
};
