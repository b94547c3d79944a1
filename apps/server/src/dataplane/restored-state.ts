import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { writeFileAtomically } from '@sallyport/haproxy';
import type { Logger } from 'pino';

/** How soon what could not be done is tried again. */
const RETRY_MS = 1_000;
/**
 * HAProxy's turn may be another's, who waits for the store that the transaction has: then the transaction has to go. It takes
 * milliseconds otherwise.
 */
const CLOSE_WITHIN_MS = 5_000;

export interface RestoredStateDeps {
  /** How often the store was put back. */
  count(): Promise<number>;
  /** Keeps the number of the last restore that is in force on this node. */
  path: string;
  protection: {
    /** Nobody but administrators gets through until `release`. Rejects when that could not be brought about. */
    hold(): Promise<void>;
    /** Tells HAProxy everything anew; resolves with whether it was told. */
    startOver(): Promise<boolean>;
    release(): Promise<boolean>;
    /** Whether the suite is to enforce nothing. */
    isOff(): Promise<boolean>;
  };
  /** Makes all routes equal to the store; resolves with whether they are. */
  reconcileRoutes(): Promise<boolean>;
  log: Logger;
}

const readNumber = (path: string): number => {
  try {
    return Number(readFileSync(path, 'utf8')) || 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return 0;
  }
};

/**
 * Takes a store that was put back to the proxy so that no request is judged by half of one state and half of the other: first
 * nobody is let through (503), then protection is made equal to the store, then routes are, then everybody is let through
 * again. What was not finished, because the process ended or another node did the restore, is noticed by a number.
 */
export const createRestoredState = ({ count, path, protection, reconcileRoutes, log }: RestoredStateDeps) => {
  /** The restore that is in force here, or on its way. */
  let known = readNumber(path);
  let holding: Promise<void> = Promise.resolve();
  let following: Promise<void> | undefined;
  /** Whether the store is about to be put back: nobody is let through before it was. */
  let isSwapping = false;
  const stopped = new AbortController();

  const followOnce = async (): Promise<boolean> => {
    const number = await count();
    if (!(await protection.startOver()) || !(await reconcileRoutes())) return false;
    // Restored once more meanwhile.
    if ((await count()) !== number || isSwapping || !(await protection.release())) return false;
    known = number;
    // Without it the next start does this once more.
    await writeFileAtomically(path, [`${number}\n`], { durable: true }).catch((err: unknown) =>
      log.warn({ err }, 'that a restore is in force could not be noted'),
    );
    return true;
  };

  /** A full disk may keep it from being in force for hours: who switched everything off, as in an emergency, is let in. */
  const openIfOff = async (): Promise<void> => {
    if (await protection.isOff()) await protection.release();
  };

  const follow = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const isDone = await followOnce().catch((err: unknown) => {
        log.error({ err }, 'a restored store could not be taken to the proxy');
        return false;
      });
      if (isDone) return;
      log.warn('a restored store is not in force yet, and the proxy is closed; this is tried again every second');
      await openIfOff().catch((err: unknown) => log.error({ err }, 'the proxy could not be opened'));
      await delay(RETRY_MS, undefined, { signal: stopped.signal }).catch(() => {});
    }
  };

  /** Shared by all who ask while it is under way. */
  const followOn = (): Promise<void> => {
    following ??= follow().finally(() => {
      following = undefined;
    });
    return following;
  };

  return {
    /**
     * To be called with what was read of the store, before it is taken to the proxy. Resolves at once unless the store was put
     * back since; then when nobody is let through any more, until all of it is in force.
     */
    async notice(): Promise<void> {
      const number = await count();
      if (number !== known) {
        known = number;
        log.warn({ restore: number }, 'the store was put back: the proxy answers 503 until all of it is in force');
        holding = protection.hold();
        holding.then(followOn).catch(() => {
          // Whoever comes next tries again.
          known = Number.NaN;
        });
      }
      await holding;
    },

    /**
     * Runs `swap`, which puts the store back and calls `close` right before it commits: until then what is served is what is stored.
     * From there on nobody is let through; resolves when all of it is in force. When it rejects, what is stored then is.
     */
    async during<T>(swap: (close: () => Promise<void>) => Promise<T>): Promise<T> {
      // One that is under way could let everybody through when it ends.
      await following;
      let isClosed = false;
      const close = async (): Promise<void> => {
        isSwapping = true;
        isClosed = true;
        const late = new AbortController();
        const tooLate = delay(CLOSE_WITHIN_MS, undefined, { signal: late.signal }).then(() => {
          throw new Error(`the proxy could not be closed within ${CLOSE_WITHIN_MS / 1_000} s: nothing was restored`);
        });
        await Promise.race([protection.hold(), tooLate]).finally(() => {
          tooLate.catch(() => {});
          late.abort();
        });
      };
      try {
        return await swap(close);
      } finally {
        isSwapping = false;
        if (isClosed) {
          // On its way from here: `notice` would close what an emergency reset may have opened by then.
          known = await count().catch(() => known);
          await followOn();
        }
      }
    },

    /** Whether a restore is on its way to the proxy. */
    isUnderway: (): boolean => following !== undefined,

    async stop(): Promise<void> {
      stopped.abort();
      await following;
    },
  };
};
