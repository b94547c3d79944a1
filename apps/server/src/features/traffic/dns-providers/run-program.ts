import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Of what a program says the end is kept, where it tells why it failed. */
const KEPT_BYTES = 32_768;

export interface ProgramCall {
  path: string;
  args: readonly string[];
  /** All of its environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** What it reads; nothing by default. */
  input?: string;
  /** It is ended by force after this time. */
  limitMs: number;
  /** Path of a file for what it says; needed by one that has to go on when we are gone: a pipe without a reader would end it. */
  outputFile?: string;
}

export interface ProgramEnd {
  /** Null when a signal ended it. */
  code: number | null;
  signal: NodeJS.Signals | null;
  /** The end of what it said, on both outputs. */
  output: string;
  isTimeout: boolean;
}

export interface RunningProgram {
  pid: number;
  /** Never rejects. */
  ended: Promise<ProgramEnd>;
  /** Ends it, and all that it has started. */
  kill(): void;
}

/** The end of what is written to a file, which is closed by that. */
const endOf = (file: number): string => {
  const { size } = fstatSync(file);
  const kept = Buffer.alloc(Math.min(size, KEPT_BYTES));
  const length = readSync(file, kept, 0, kept.length, size - kept.length);
  closeSync(file);
  return kept.toString('utf8', 0, length);
};

/** Keeps the end of what a program says to us. */
const listenTo = ({ stdout, stderr }: ChildProcess): (() => string) => {
  let output = '';
  for (const stream of [stdout, stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-KEPT_BYTES);
    });
  }
  return () => output;
};

/** Starts a program in a process group of its own. Rejects with an `Error` that tells why it can't be started. */
export const startProgram = async (call: ProgramCall): Promise<RunningProgram> => {
  const file = call.outputFile === undefined ? undefined : openSync(call.outputFile, 'wx+', 0o600);
  const { path, args, env, cwd } = call;
  const failed = (cause: Error): Error => {
    if (file !== undefined) closeSync(file);
    return new Error(`${path} can't be started: ${cause.message}`, { cause });
  };
  let child: ChildProcess;
  try {
    child = spawn(path, args, { env, cwd, detached: true, stdio: ['pipe', file ?? 'pipe', file ?? 'pipe'] });
  } catch (error) {
    throw failed(error as Error);
  }
  const output = file === undefined ? listenTo(child) : () => endOf(file);
  // It may end without having read all.
  child.stdin?.on('error', () => {});
  child.stdin?.end(call.input ?? '');
  const closing = Promise.withResolvers<Omit<ProgramEnd, 'isTimeout'>>();
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', () => {
      // One that could not be started is closed, too, and has said nothing.
      child.once('close', (code, signal) => closing.resolve({ code, signal, output: output() }));
      resolve();
    });
    child.once('error', (cause) => reject(failed(cause)));
  });
  const pid = child.pid as number;
  const kill = (): void => {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  };
  let isTimeout = false;
  const limit = setTimeout(() => {
    isTimeout = true;
    kill();
  }, call.limitMs);
  return {
    pid,
    kill,
    ended: closing.promise.then((end) => {
      clearTimeout(limit);
      return { ...end, isTimeout };
    }),
  };
};
