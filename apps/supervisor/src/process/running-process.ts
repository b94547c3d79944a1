import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { isStillRunning, type ProcessInfo, readProcess } from '@sallyport/deployment/processes';

/** How a process ended; an adopted one is not our child, so the kernel does not tell us. */
export type Ending = { how: 'code'; code: number } | { how: 'signal'; signal: NodeJS.Signals } | { how: 'unknown' };

/** A process under our care, whether we or an earlier supervisor started it. */
export interface RunningProcess {
  pid: number;
  startTime: string;
  argv: readonly string[];
  ended: Promise<Ending>;
  /** Signals the process; nothing happens when it has ended, even if its pid has been given to another. */
  signal(name: NodeJS.Signals): void;
  /** Ends the process and whatever it started, at once. */
  killGroup(): void;
}

export interface SpawnOptions {
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  cwd?: string | undefined;
  /** Gets stderr and stdout when given; otherwise the process writes to ours. */
  onOutput: ((stream: Readable, from: 'stdout' | 'stderr') => void) | undefined;
}

const adoptedPollMs = 100;

const send = (target: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(target, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

/**
 * Starts a process in a session of its own, so that Ctrl-C in our terminal reaches only us and we can stop in order.
 * Rejects when the program can't be started.
 */
export const spawnProcess = async ({ argv, env, cwd, onOutput }: SpawnOptions): Promise<RunningProcess> => {
  const [program, ...args] = argv;
  const child = spawn(program, args, {
    detached: true,
    env,
    cwd,
    stdio: onOutput ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
  });
  let hasEnded = false;
  const ended = new Promise<Ending>((resolve) => {
    child.once('exit', (code, signal) => {
      hasEnded = true;
      resolve(signal ? { how: 'signal', signal } : { how: 'code', code: code ?? 0 });
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(new Error(`cannot start ${program}`, { cause })));
  });
  const pid = child.pid!;
  if (child.stdout && child.stderr) {
    onOutput?.(child.stdout, 'stdout');
    onOutput?.(child.stderr, 'stderr');
  }
  return {
    pid,
    // Not reaped before its 'exit' event, so /proc still knows even one that failed at once; a zombie has no use for it.
    startTime: readProcess(pid)?.startTime ?? '',
    argv,
    ended,
    signal: (name) => void (hasEnded || child.kill(name)),
    killGroup: () => void (hasEnded || send(-pid, 'SIGKILL')),
  };
};

/** Takes over a process that an earlier supervisor started by `spawnProcess`: it is watched through /proc. */
export const adoptProcess = (info: ProcessInfo): RunningProcess => {
  const ended = new Promise<Ending>((resolve) => {
    const timer = setInterval(() => {
      if (isStillRunning(info)) return;
      clearInterval(timer);
      resolve({ how: 'unknown' });
    }, adoptedPollMs);
  });
  return {
    pid: info.pid,
    startTime: info.startTime,
    argv: info.argv,
    ended,
    signal: (name) => void (isStillRunning(info) && send(info.pid, name)),
    killGroup() {
      if (!isStillRunning(info)) return;
      send(-info.pid, 'SIGKILL');
      send(info.pid, 'SIGKILL');
    },
  };
};
