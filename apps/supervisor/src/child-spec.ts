import type { ReadLine } from './child-line.ts';
import type { StopSteps } from './process/stop-process.ts';
import type { Patience } from './pulse.ts';

/** One row of the process table: everything the supervisor has to know about a child. */
export interface ChildSpec {
  name: string;
  /** Program and arguments. Never a secret: every user of the machine can read them. */
  argv: readonly [string, ...string[]];
  /** The whole environment. A living process started with another one is replaced, not adopted. */
  env: Readonly<Record<string, string>>;
  /** Directory it is started in; ours unless given. */
  cwd?: string;
  /** `ours`: it writes to the supervisor's own output, and goes on when that dies. Otherwise how to read its lines. */
  output: 'ours' | ReadLine;
  stop: StopSteps;
  /** Done before each start; a rejection counts as a failed start. */
  prepare?(signal: AbortSignal): Promise<void>;
  /** Whether it serves; asked as long as it lives, so it has to be cheap, and to answer within some seconds. Never rejects. */
  isAlive(pid: number): Promise<boolean>;
  /** How long it may not serve before it is replaced. */
  patience: Patience;
}
