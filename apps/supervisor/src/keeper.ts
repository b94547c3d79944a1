import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { endStrays } from './adoption.ts';
import { recoveredAfterMs, restartDelayMs } from './back-off.ts';
import type { ChildLine } from './child-line.ts';
import type { ChildSpec } from './child-spec.ts';
import { forwardLines } from './output-lines.ts';
import { type Ending, type RunningProcess, spawnProcess } from './process/running-process.ts';
import { stopProcess } from './process/stop-process.ts';

/** Keeps one child running until it is stopped. */
export interface Keeper {
  name: string;
  /** Resolves when the child serves for the first time. */
  ready: Promise<void>;
  /** The process at this moment, if there is one. */
  current(): RunningProcess | undefined;
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

const readyPollMs = 50;

/** Starts to keep `child` running. Never throws: whatever goes wrong is logged, and tried again after the back-off. */
export const keepRunning = ({ child, adopted, log, random, onChange }: KeeperDeps): Keeper => {
  const stopping = new AbortController();
  const ready = Promise.withResolvers<void>();
  let current: RunningProcess | undefined;
  let failures = 0;

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

  const watchReadiness = async (process: RunningProcess): Promise<void> => {
    const startedAt = performance.now();
    // A foreign program may answer in its place, so the child itself must be there as well.
    while (current === process && !stopping.signal.aborted) {
      if ((await child.isReady()) && current === process) {
        const afterMs = Math.round(performance.now() - startedAt);
        log[failures === 0 ? 'debug' : 'info']({ pid: process.pid, afterMs }, 'ready');
        ready.resolve();
        return;
      }
      await sleep(readyPollMs);
    }
  };

  /** One life of the child, from start to end. Returns how it ended. */
  const live = async (process: RunningProcess): Promise<Ending> => {
    become(process);
    watchReadiness(process).catch((err: unknown) => log.error({ err }, 'cannot tell whether it is ready'));
    const ending = await process.ended;
    become(undefined);
    return ending;
  };

  const run = async (): Promise<void> => {
    let next = adopted;
    if (next) log.info({ pid: next.pid }, 'goes on, it was running already');
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      let reason: object;
      try {
        next ??= await start();
        reason = await live(next);
      } catch (err) {
        reason = { err };
      }
      next = undefined;
      if (stopping.signal.aborted) return;
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
    async stop(deadline) {
      stopping.abort();
      if (current) await stopProcess(current, child.stop, deadline);
      await running;
      // A HAProxy worker that hangs outlives its master.
      await endStrays(child, undefined);
    },
  };
};
