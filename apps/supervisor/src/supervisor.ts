import { isStillRunning, readProcess } from '@sallyport/deployment/processes';
import type { SupervisorState } from '@sallyport/deployment/supervisor-state';
import type { Logger } from 'pino';
import { endStrays, isAdoptable } from './adoption.ts';
import type { ChildSpec } from './child-spec.ts';
import { type Keeper, keepRunning } from './keeper.ts';
import { adoptProcess, type RunningProcess } from './process/running-process.ts';
import { type StopSteps, stopProcess } from './process/stop-process.ts';

export interface SupervisorDeps {
  /** In the order of their start; they are stopped in reverse. */
  children: readonly ChildSpec[];
  /** What an earlier supervisor of this data directory and this boot left, if any. */
  inherited: SupervisorState | undefined;
  /** Called with the living children, and what became of former ones, whenever that changes. */
  record(state: Pick<SupervisorState, 'children' | 'past'>): void;
  log: Logger;
  random(): number;
}

export interface Supervisor {
  /** Resolves when every child has served at least once. */
  ready: Promise<void>;
  /** Stops all children, in 5 s at most or at once when `hurry` aborts. Resolves when none is left. */
  stop(hurry: AbortSignal): Promise<void>;
}

/** After this the remaining children are killed, so that all are gone within 5 s. */
const stopWithinMs = 4_000;

const stopFormer: StopSteps = [{ signal: 'SIGTERM', waitMs: 1_500 }];

/** The inherited process of a child, when it still lives and is what would be started now. */
export const findInherited = (
  child: Pick<ChildSpec, 'name' | 'argv' | 'env' | 'cwd'>,
  inherited: SupervisorState | undefined,
) => {
  const saved = inherited?.children.find(({ name }) => name === child.name);
  if (!saved || !isStillRunning({ pid: saved.pid, startTime: saved.start_time })) return undefined;
  const process = readProcess(saved.pid);
  return process && isAdoptable(process, child) ? process : undefined;
};

/** Starts or adopts the children, in order, and keeps them running until `stop`. */
export const superviseAll = (deps: SupervisorDeps): Supervisor => {
  const { children, inherited, record, log, random } = deps;
  const keepers: Keeper[] = [];
  let isStopping = false;

  const recordAll = () => {
    const living = keepers.flatMap((keeper) => {
      const process = keeper.current();
      if (!process) return [];
      return [{ name: keeper.name, pid: process.pid, start_time: process.startTime, argv: process.argv }];
    });
    const past = keepers.map((keeper) => {
      const { restarts, lastEnd } = keeper.past();
      return { name: keeper.name, restarts, last_end: lastEnd ?? null };
    });
    try {
      record({ children: living, past });
    } catch (err) {
      // A full disk must not end what serves: without the record our successor replaces the children, it adopts none.
      log.warn({ err }, 'cannot write down which processes run');
    }
  };

  const adopt = async (child: ChildSpec): Promise<RunningProcess | undefined> => {
    const process = findInherited(child, inherited);
    if (!process) return undefined;
    await endStrays(child, process.pid);
    return adoptProcess(process);
  };

  /** Ends those that are no longer wanted, e.g. guards when there are to be fewer. */
  const endFormer = async (): Promise<void> => {
    const former = inherited?.children.filter(({ name }) => !children.some((child) => child.name === name)) ?? [];
    for (const { pid, start_time, name } of former) {
      const process = isStillRunning({ pid, startTime: start_time }) ? readProcess(pid) : undefined;
      if (!process) continue;
      log.info({ child: name, pid }, 'is not wanted any more');
      await stopProcess(adoptProcess(process), stopFormer, AbortSignal.timeout(stopWithinMs));
    }
  };

  const startAll = async (): Promise<void> => {
    await endFormer();
    for (const child of children) {
      const childLog = log.child({ child: child.name });
      const adopted = await adopt(child);
      if (isStopping) return;
      const keeper = keepRunning({ child, adopted, log: childLog, random, onChange: recordAll });
      keepers.push(keeper);
      // Side by side: HAProxy's files are rendered while the server loads, which halves the time to a working proxy.
      recordAll();
    }
    await Promise.all(keepers.map((keeper) => keeper.ready));
  };

  return {
    ready: startAll(),
    async stop(hurry) {
      isStopping = true;
      const deadline = AbortSignal.any([hurry, AbortSignal.timeout(stopWithinMs)]);
      for (const keeper of keepers.toReversed()) await keeper.stop(deadline);
    },
  };
};
