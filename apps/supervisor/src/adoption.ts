import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isStillRunning, listProcesses, type ProcessInfo, readEnvironment } from '@sallyport/deployment/processes';
import type { ChildSpec } from './child-spec.ts';

type Identity = Pick<ChildSpec, 'argv' | 'env' | 'cwd'>;

const isSetting = (name: string): boolean => name.startsWith('SALLYPORT_') || name === 'DATABASE_URL';

/** A prefix: HAProxy's master starts itself again with more arguments when it reloads. */
const hasCommandLine = (actual: readonly string[], argv: readonly string[]): boolean =>
  argv.every((argument, index) => actual[index] === argument);

/**
 * Whether a process is this child of this data directory, perhaps with other settings.
 * An environment we may not read belongs to another user's process, or to a HAProxy worker that gave up its rights: the
 * data directory in its command line tells those apart.
 */
const isThisChild = (process: ProcessInfo, { argv, env }: Identity): boolean => {
  if (!hasCommandLine(process.argv, argv)) return false;
  const environment = readEnvironment(process.pid);
  const dataDir = env.SALLYPORT_DATA_DIR;
  if (environment) return environment.get('SALLYPORT_DATA_DIR') === dataDir;
  return dataDir !== undefined && argv.some((argument) => argument.startsWith(`${dataDir}/`));
};

const hasSettings = (process: ProcessInfo, wanted: ChildSpec['env']): boolean => {
  const environment = readEnvironment(process.pid);
  if (!environment) return false;
  const names = new Set([...environment.keys(), ...Object.keys(wanted)].filter(isSetting));
  return [...names].every((name) => environment.get(name) === wanted[name]);
};

/**
 * Whether a process works in this very directory, not in one of that name which has been deleted: what others make in the
 * new one, a HAProxy confined to the old one never finds. What we may not read belongs to a worker that gave up its rights.
 */
export const worksIn = (pid: number, directory: string): boolean => {
  try {
    const [actual, wanted] = [statSync(`/proc/${pid}/cwd`), statSync(directory)];
    return actual.dev === wanted.dev && actual.ino === wanted.ino;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES';
  }
};

/** Whether a process that an earlier supervisor left behind is what we would start now: same program, same settings. */
export const isAdoptable = (process: ProcessInfo, child: Identity): boolean =>
  isThisChild(process, child) &&
  hasSettings(process, child.env) &&
  (child.cwd === undefined || worksIn(process.pid, child.cwd));

const politeMs = 1_000;
const endedWithinMs = 3_000;
const pollMs = 20;

const waitUntilEnded = async (processes: readonly ProcessInfo[], limitMs: number): Promise<ProcessInfo[]> => {
  const giveUpAt = performance.now() + limitMs;
  for (;;) {
    const alive = processes.filter(isStillRunning);
    if (alive.length === 0 || performance.now() > giveUpAt) return alive;
    await sleep(pollMs);
  }
};

const signalAll = (processes: readonly ProcessInfo[], signal: NodeJS.Signals): void => {
  for (const info of processes) {
    try {
      if (isStillRunning(info)) process.kill(info.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
};

/**
 * Ends every process that is this child but not `keep` or started by it: two of one kind must never serve side by side,
 * and HAProxy would share the port without a word (SO_REUSEPORT). Returns how many there were; throws when one stays.
 */
export const endStrays = async (child: Identity, keep: number | undefined): Promise<number> => {
  const isKept = (info: ProcessInfo) => keep !== undefined && (info.pid === keep || info.parentPid === keep);
  const alike = listProcesses((argv) => hasCommandLine(argv, child.argv));
  const strays = alike.filter((info) => !isKept(info) && isThisChild(info, child));
  signalAll(strays, 'SIGTERM');
  const stubborn = await waitUntilEnded(strays, politeMs);
  signalAll(stubborn, 'SIGKILL');
  const [immortal] = await waitUntilEnded(stubborn, endedWithinMs);
  if (immortal) throw new Error(`process ${immortal.pid} is in the way and can't be ended`);
  return strays.length;
};
