import { setTimeout as sleep } from 'node:timers/promises';
import { AcmeProblem, AcmeUnreachable } from '../model/errors.ts';
import { limits } from '../model/limits.ts';

/** Waits that long; rejects when the signal ends. */
export type Pause = (ms: number, signal: AbortSignal | undefined) => Promise<void>;

export const pauseFor: Pause = (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal });

export interface PollDeps {
  pause: Pause;
  clock: () => Date;
  signal: AbortSignal | undefined;
  pollTimeoutMs: number;
}

/** One look at something: what came of it, or undefined while it is undecided, and when the CA wants the next look. */
export interface Look<T> {
  decided: T | undefined;
  retryAfter: Date | undefined;
}

/** The CA is busy, and says when to come back: no reason to give up what is half done. */
const isBusy = (error: unknown): error is AcmeProblem | AcmeUnreachable =>
  (error instanceof AcmeUnreachable ||
    (error instanceof AcmeProblem && (error.is('rateLimited') || error.status === 503))) &&
  error.retryAfter !== undefined;

/**
 * Looks again and again until it is decided. Between looks it waits for as long as the CA asks for, at most two minutes; when it asks for
 * nothing, a quarter of a second at first and twice as long each time, up to 15 seconds. Rejects with `AcmeUnreachable` after `pollTimeoutMs`.
 */
export const poll = async <T>(
  { pause, clock, signal, pollTimeoutMs }: PollDeps,
  url: string,
  look: () => Promise<Look<T>>,
): Promise<T> => {
  const { first, longest, longestAsked } = limits.pollPauseMs;
  let waitedMs = 0;
  for (let nextMs: number = first; ; nextMs = Math.min(nextMs * 2, longest)) {
    let retryAfter: Date | undefined;
    try {
      const seen = await look();
      if (seen.decided !== undefined) return seen.decided;
      retryAfter = seen.retryAfter;
    } catch (error) {
      if (!isBusy(error)) throw error;
      retryAfter = error.retryAfter;
    }
    const askedMs = retryAfter === undefined ? undefined : retryAfter.getTime() - clock().getTime();
    const pauseMs = askedMs === undefined ? nextMs : Math.min(Math.max(askedMs, first), longestAsked);
    waitedMs += pauseMs;
    if (waitedMs > pollTimeoutMs) {
      throw new AcmeUnreachable(url, `the CA has not decided within ${pollTimeoutMs / 60_000} minutes`, { retryAfter });
    }
    await pause(pauseMs, signal);
  }
};
