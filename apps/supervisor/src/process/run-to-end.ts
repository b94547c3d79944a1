import { spawn } from 'node:child_process';

export interface RunOptions {
  argv: readonly [string, ...string[]];
  env: Readonly<Record<string, string>>;
  /** Ends the program, at once. */
  signal: AbortSignal;
}

/** Runs a program that does one thing and ends; what it writes goes to our output. Rejects unless it ends with code 0. */
export const runToEnd = ({ argv: [program, ...args], env, signal }: RunOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, signal, killSignal: 'SIGKILL', stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', (cause) => reject(new Error(`cannot run ${args[0] ?? program}`, { cause })));
    child.once('exit', (code, killedBy) => {
      if (code === 0) resolve();
      else reject(new Error(`${args[0] ?? program} ended with ${killedBy ?? `code ${code}`}`));
    });
  });
