import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { endStrays } from './adoption.ts';
import { recoveredAfterMs, restartDelayMs } from './back-off.ts';
import type { ChildLine } from './child-line.ts';
import type { ChildSpec } from './child-spec.ts';
import { forwardLines } from './output-lines.ts';
import { readActivity } from './process/activity.ts';
import { type Ending, type RunningProcess, spawnProcess } from './process/running-process.ts';
import { type StopSteps, stopProcess } from './process/stop-process.ts';
import { watchPulse } from './pulse.ts';

/** What the status tells of a child besides that it runs. */
export interface Past {
  /** How often it was started again since the supervisor runs. */
  restarts: number;
  /** When and why it last ended without being asked to; undefined when it never did. */
  lastEnd: { at: string; why: string } | undefined;
}

/** Keeps one child running until it is stopped. */
export interface Keeper {
  name: string;
  /** Resolves when the child serves for the first time. */
  ready: Promise<void>;
  /** The process at this moment, if there is one. */
  current(): RunningProcess | undefined;
  /** What became of the processes before it. */
  past(): Past;
  /** Resolves when the child and everything it started is gone; `deadline` cuts short what patience is left. */
  stop(deadline: AbortSignal): Promise<void>;
}

export interface KeeperDeps {
  child: ChildSpec;
  /** A living process to take over in place of the first start. */
  adopted: RunningProcess | undefined;
  log: Logger;
  random(): number;
  /** Called whenever `current` has changed. */
  onChange(): void;
}

/** For a child that gives no sign of life; SIGKILL comes after it, and ends stopped processes, too. */
const stopSilent: StopSteps = [{ signal: 'SIGTERM', waitMs: 500 }];

const describeEnd = (reason: Ending | { err: unknown }): string => {
  if ('err' in reason) {
    return `could not be started: ${reason.err instanceof Error ? reason.err.message : String(reason.err)}`;
  }
  switch (reason.how) {
    case 'code':
      return `ended with code ${reason.code}`;
    case 'signal':
      return `was ended by ${reason.signal}`;
    case 'unknown':
      return 'ended';
    default:
      return reason satisfies never;
  }
};

/** Starts to keep `child` running. Never throws: whatever goes wrong is logged, and tried again after the back-off. */
export const keepRunning = ({ child, adopted, log, random, onChange }: KeeperDeps): Keeper => {
  const stopping = new AbortController();
  const ready = Promise.withResolvers<void>();
  let current: RunningProcess | undefined;
  let failures = 0;
  let past: Past = { restarts: 0, lastEnd: undefined };
  /** Why the present process is about to end, when it is us who end it. */
  let replacedFor: string | undefined;
  /** Cuts short the stopping that is under way. */
  let deadline: AbortSignal | undefined;

  const become = (process: RunningProcess | undefined) => {
    current = process;
    onChange();
  };

  /** The complaints of a child that is being stopped are no news. */
  const tell = ({ level, message, fields = {} }: ChildLine) =>
    log[stopping.signal.aborted ? 'debug' : level](fields, message);

  const start = async (): Promise<RunningProcess> => {
    const strays = await endStrays(child, undefined);
    if (strays > 0) log.warn({ strays }, 'ended processes that were left over');
    await child.prepare?.(stopping.signal);
    stopping.signal.throwIfAborted();
    const { argv, env, cwd, output } = child;
    if (output === 'ours') return spawnProcess({ argv, env, cwd, onOutput: undefined });
    return spawnProcess({
      argv,
      env,
      cwd,
      onOutput: (stream, from) =>
        forwardLines(stream, {
          line: (line) => tell(output(line, from)),
          dropped: (lines) => log.warn({ lines }, 'says too much, lines left out'),
        }),
    });
  };

  /** Replaces the process when it gives no sign of life for too long; `over` aborts when it has ended. */
  const watch = async (process: RunningProcess, over: AbortSignal): Promise<void> => {
    const startedAt = performance.now();
    const silence = await watchPulse({
      isAlive: () => child.isAlive(process.pid),
      activity: () => readActivity(process.pid),
      patience: child.patience,
      onFirst() {
        const afterMs = Math.round(performance.now() - startedAt);
        log[failures === 0 ? 'debug' : 'info']({ pid: process.pid, afterMs }, 'ready');
        ready.resolve();
      },
      signal: AbortSignal.any([over, stopping.signal]),
    });
    if (!silence) return;
    log.error({ pid: process.pid, ...silence }, 'gives no sign of life, it is replaced');
    replacedFor = `gave no sign of life for ${Math.round(silence.silentMs / 1_000)} s (${silence.state})`;
    await stopProcess(process, stopSilent, stopping.signal);
  };

  /** One life of the child, from start to end. Returns how it ended. */
  const live = async (process: RunningProcess): Promise<Ending> => {
    become(process);
    // Whoever stops us while it is being started finds nothing to stop.
    if (deadline) await stopProcess(process, child.stop, deadline);
    const over = new AbortController();
    const watching = watch(process, over.signal).catch((err: unknown) => log.error({ err }, 'can not be watched'));
    const ending = await process.ended;
    over.abort();
    become(undefined);
    await watching;
    return ending;
  };

  const run = async (): Promise<void> => {
    let next = adopted;
    if (next) log.info({ pid: next.pid }, 'goes on, it was running already');
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      let reason: Ending | { err: unknown };
      try {
        next ??= await start();
        reason = await live(next);
      } catch (err) {
        reason = { err };
      }
      next = undefined;
      if (stopping.signal.aborted) return;
      past = {
        restarts: past.restarts + 1,
        lastEnd: { at: new Date().toISOString(), why: replacedFor ?? describeEnd(reason) },
      };
      replacedFor = undefined;
      onChange();
      failures = performance.now() - startedAt >= recoveredAfterMs ? 1 : failures + 1;
      const delayMs = restartDelayMs(failures, random);
      log.warn({ ...reason, failures, delayMs }, 'ended, starting it again');
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };

  const running = run();
  return {
    name: child.name,
    ready: ready.promise,
    current: () => current,
    past: () => past,
    async stop(latest) {
      deadline = latest;
      stopping.abort();
      if (current) await stopProcess(current, child.stop, latest);
      await running;
      // A HAProxy worker that hangs outlives its master.
      await endStrays(child, undefined);
    },
  };
};
