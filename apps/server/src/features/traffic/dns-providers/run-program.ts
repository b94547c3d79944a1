import { spawn } from 'node:child_process';

/** Of what a program says the end is kept, where it tells why it failed. */
const KEPT_CHARACTERS = 32_768;

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

/** Starts a program in a process group of its own. Rejects when it can't be started. */
export const startProgram = async (call: ProgramCall): Promise<RunningProgram> => {
  const child = spawn(call.path, call.args, { env: call.env, cwd: call.cwd, detached: true, stdio: 'pipe' });
  let output = '';
  const keep = (chunk: Buffer): void => {
    output = (output + chunk.toString('utf8')).slice(-KEPT_CHARACTERS);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  // It may end without having read all.
  child.stdin.on('error', () => {});
  child.stdin.end(call.input ?? '');
  const ended = new Promise<Omit<ProgramEnd, 'isTimeout'>>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, output }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (cause) => reject(new Error(`${call.path} can't be started`, { cause })));
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
    ended: ended.then((end) => {
      clearTimeout(limit);
      return { ...end, isTimeout };
    }),
  };
};
