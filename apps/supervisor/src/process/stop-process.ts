import { setTimeout as sleep } from 'node:timers/promises';
import type { RunningProcess } from './running-process.ts';

/** Signals to try in turn, each with the time the process has to end after it; SIGKILL comes by itself at the end. */
export type StopSteps = readonly { signal: NodeJS.Signals; waitMs: number }[];

/** Stops a process by `steps`; when `deadline` aborts, what is left of them is skipped. Resolves when it has ended. */
export const stopProcess = async (target: RunningProcess, steps: StopSteps, deadline: AbortSignal): Promise<void> => {
  const ended = target.ended.then(() => true);
  for (const { signal, waitMs } of steps) {
    if (deadline.aborted) break;
    target.signal(signal);
    const giveUp = new AbortController();
    const timeout = sleep(waitMs, false, { signal: AbortSignal.any([deadline, giveUp.signal]) }).catch(() => false);
    const isGone = await Promise.race([ended, timeout]);
    giveUp.abort();
    if (isGone) return;
  }
  target.killGroup();
  await ended;
};
