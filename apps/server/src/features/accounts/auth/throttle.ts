import { clientPrefix } from '@sallyport/access';
import { refuse } from '@sallyport/store/errors';

export interface ThrottleLimits {
  /** Failures for one account from one address. */
  perAccountAndAddress: number;
  /** Failures from one address, whatever the account. */
  perAddress: number;
  /** Failures for one account from everywhere but the local host. */
  perAccount: number;
  windowMs: number;
}

/** contract.md: 5 per account, 20 per address; the third stops guessing one password from many addresses. */
export const SIGN_IN_LIMITS: ThrottleLimits = {
  perAccountAndAddress: 5,
  perAddress: 20,
  perAccount: 50,
  windowMs: 15 * 60_000,
};

const MAX_COUNTERS = 50_000;

interface Counter {
  count: number;
  endsAt: number;
  isNoted: boolean;
}

export interface Attempt {
  account: string;
  ip: string;
  /** On this host: counted apart, so that nobody outside can lock the operator out. */
  isLocal: boolean;
}

/** An attempt that counts as failed until its outcome is told. */
export interface OpenAttempt {
  /** The proof was right: failures of this account from this address are forgotten. */
  succeeded(): void;
  /** Nothing was tried after all. */
  withdraw(): void;
}

/** Of so many of the oldest counters the lowest makes room: those that hold somebody back are kept. */
const ROOM_AMONG = 64;

/**
 * Counts failed proofs of identity. An attempt counts as failed from its start, so that many at once can't all pass
 * before the first one fails; `succeeded` takes it back. Only attempts that are let through make counters: what is
 * refused anyway must not push out the counters that refuse it.
 */
export const createThrottle = (
  clock: () => Date,
  limits: ThrottleLimits = SIGN_IN_LIMITS,
  maxCounters: number = MAX_COUNTERS,
) => {
  const counters = new Map<string, Counter>();

  const liveCounter = (key: string, now: number): Counter | undefined => {
    const known = counters.get(key);
    return known && known.endsAt > now ? known : undefined;
  };

  const makeRoom = (now: number): void => {
    let lowest: { key: string; count: number } | undefined;
    let looked = 0;
    for (const [key, { count, endsAt }] of counters) {
      const weight = endsAt > now ? count : 0;
      if (!lowest || weight < lowest.count) lowest = { key, count: weight };
      looked += 1;
      if (weight === 0 || looked === ROOM_AMONG) break;
    }
    if (lowest) counters.delete(lowest.key);
  };

  const take = (key: string, now: number): Counter => {
    const known = liveCounter(key, now);
    if (known) {
      known.count += 1;
      return known;
    }
    counters.delete(key);
    if (counters.size >= maxCounters) makeRoom(now);
    const fresh = { count: 1, endsAt: now + limits.windowMs, isNoted: false };
    counters.set(key, fresh);
    return fresh;
  };

  const keysOf = ({ account, ip, isLocal }: Attempt): [string, number][] => {
    const address = isLocal ? 'local' : clientPrefix(ip);
    const keys: [string, number][] = [
      [`pair ${address} ${account}`, limits.perAccountAndAddress],
      [`address ${address}`, limits.perAddress],
    ];
    if (!isLocal) keys.push([`account ${account}`, limits.perAccount]);
    return keys;
  };

  return {
    /**
     * Begins an attempt. Throws a 429 with Retry-After when a limit is reached; `onFirstRefusal` is called once per
     * counter and window, so that a flood leaves one trace and not thousands.
     */
    async begin(attempt: Attempt, onFirstRefusal: () => Promise<void>): Promise<OpenAttempt> {
      const now = clock().getTime();
      const keys = keysOf(attempt);
      const full = keys
        .map(([key, limit]) => ({ counter: liveCounter(key, now), limit }))
        .find(({ counter, limit }) => counter !== undefined && counter.count >= limit)?.counter;
      if (full) {
        if (!full.isNoted) {
          full.isNoted = true;
          await onFirstRefusal();
        }
        const seconds = Math.max(1, Math.ceil((full.endsAt - now) / 1000));
        throw refuse.tooMany('Too many failed attempts; try again later', { headers: { 'retry-after': `${seconds}` } });
      }
      const taken = keys.map(([key]) => ({ key, counter: take(key, now) }));
      const giveBack = ({ key, counter }: { key: string; counter: Counter }) => {
        counter.count = Math.max(0, counter.count - 1);
        if (counter.count === 0 && counters.get(key) === counter) counters.delete(key);
      };
      return {
        withdraw() {
          taken.forEach(giveBack);
        },
        succeeded() {
          const [pair, ...shared] = taken;
          if (pair) pair.counter.count = 0;
          // Only this attempt: a valid account of one's own must not buy more guesses at others.
          shared.forEach(giveBack);
        },
      };
    },
  };
};
export type Throttle = ReturnType<typeof createThrottle>;
