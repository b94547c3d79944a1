import { setTimeout as sleep } from 'node:timers/promises';
import type { Activity } from './process/activity.ts';

/** How long a child may give no sign of life before it is replaced, in milliseconds of silence. */
export interface Patience extends Limits {
  /** Until its first answer. */
  start: Limits;
}

interface Limits {
  /** While it does nothing at all: it waits for something that doesn't come. */
  idleMs: number;
  /** In all: while it is busy, it may be about to answer. */
  busyMs: number;
}

export interface PulseDeps {
  /** Asks for a sign of life; never rejects, and answers within some seconds. */
  isAlive(): Promise<boolean>;
  activity(): Activity;
  patience: Patience;
  /** Called with the first sign of life. */
  onFirst(): void;
  /** Ends the watch, e.g. because the child has ended. */
  signal: AbortSignal;
  now?: () => number;
}

/** Why a child has to be replaced. */
export interface Silence {
  state: 'stopped' | 'idle' | 'busy';
  silentMs: number;
}

/** A stopped process will not answer, whatever the machine has to do; a moment, should somebody only take a look at it. */
const stoppedMs = 3_000;
const startingPollMs = 50;
/** What the kernel says is looked up so often while there is silence. */
const lookMs = 500;
const wellPollMs = 2_000;
const silentPollMs = 500;
/** More than an answer takes to be given up: after a longer round it was we who stood still. */
const longestRoundMs = 6_000;
/** Less processor time than this share is idling: timers and threads that only tick. */
const busyShare = 0.05;

/**
 * Asks for a sign of life until `signal` aborts (then undefined) or patience is at its end. Silence is counted in rounds
 * of our own: time in which this process did not run either (a laptop that slept, a machine that stood still) is no
 * silence of the child, and every kind of silence has its own patience.
 */
export const watchPulse = async (deps: PulseDeps): Promise<Silence | undefined> => {
  const { isAlive, activity, patience, onFirst, signal, now = () => performance.now() } = deps;
  const silent = { stopped: 0, idle: 0, total: 0 };
  let isStarting = true;
  let usedMs = 0;
  let roundBegan = now();
  /** Silence that is not counted yet. */
  let uncountedMs = 0;
  const forget = () => {
    Object.assign(silent, { stopped: 0, idle: 0, total: 0 });
    uncountedMs = 0;
  };

  /** Adds a round without an answer; tells when it was one too many. */
  const count = (newMs: number): Silence | undefined => {
    uncountedMs += newMs;
    if (uncountedMs < lookMs) return undefined;
    const roundMs = uncountedMs;
    uncountedMs = 0;
    const current = activity();
    const isBusy = current.isRunnable || current.usedMs - usedMs > roundMs * busyShare;
    usedMs = current.usedMs;
    silent.total += roundMs;
    silent.stopped = current.isStopped ? silent.stopped + roundMs : 0;
    silent.idle = isBusy ? 0 : silent.idle + roundMs;
    const silentMs = Math.round(silent.total);
    if (silent.stopped >= stoppedMs) return { state: 'stopped', silentMs };
    const { idleMs, busyMs } = isStarting ? patience.start : patience;
    if (silent.idle >= idleMs) return { state: 'idle', silentMs };
    return silent.total >= busyMs ? { state: 'busy', silentMs } : undefined;
  };

  while (!signal.aborted) {
    const answered = await isAlive();
    if (signal.aborted) return undefined;
    const roundMs = now() - roundBegan;
    roundBegan = now();
    if (answered) {
      if (isStarting) onFirst();
      isStarting = false;
      forget();
    } else if (roundMs > longestRoundMs) {
      forget();
    } else {
      const silence = count(roundMs);
      if (silence) return silence;
    }
    const pauseMs = answered ? wellPollMs : isStarting ? startingPollMs : silentPollMs;
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
};
