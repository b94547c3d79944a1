import ipaddr from 'ipaddr.js';
import { refuse } from '../../errors.ts';

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

/** Whoever can choose addresses within a /64 is one caller. */
const addressKey = (ip: string): string => {
  if (!ipaddr.isValid(ip)) return ip;
  const address = ipaddr.process(ip);
  return address.kind() === 'ipv4' ? address.toString() : `${address.toByteArray().slice(0, 8).join('.')}/64`;
};

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

/**
 * Counts failed proofs of identity. An attempt counts as failed from its start, so that many at once can't all pass
 * before the first one fails; `succeeded` takes it back.
 */
export const createThrottle = (clock: () => Date, limits: ThrottleLimits = SIGN_IN_LIMITS) => {
  const counters = new Map<string, Counter>();

  const counterOf = (key: string, now: number): Counter => {
    const known = counters.get(key);
    if (known && known.endsAt > now) return known;
    counters.delete(key);
    if (counters.size >= MAX_COUNTERS) {
      const oldest = counters.keys().next().value;
      if (oldest !== undefined) counters.delete(oldest);
    }
    const fresh = { count: 0, endsAt: now + limits.windowMs, isNoted: false };
    counters.set(key, fresh);
    return fresh;
  };

  const keysOf = ({ account, ip, isLocal }: Attempt): [string, number][] => {
    const address = isLocal ? 'local' : addressKey(ip);
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
      const taken = keysOf(attempt).map(([key, limit]) => ({ counter: counterOf(key, now), limit }));
      const full = taken.find(({ counter, limit }) => counter.count >= limit)?.counter;
      if (full) {
        if (!full.isNoted) {
          full.isNoted = true;
          await onFirstRefusal();
        }
        const seconds = Math.max(1, Math.ceil((full.endsAt - now) / 1000));
        throw refuse.tooMany('Too many failed attempts; try again later', { headers: { 'retry-after': `${seconds}` } });
      }
      for (const { counter } of taken) counter.count += 1;
      return {
        withdraw() {
          for (const { counter } of taken) counter.count = Math.max(0, counter.count - 1);
        },
        succeeded() {
          const [pair, ...shared] = taken;
          if (pair) pair.counter.count = 0;
          // Only this attempt: a valid account of one's own must not buy more guesses at others.
          for (const { counter } of shared) counter.count = Math.max(0, counter.count - 1);
        },
      };
    },
  };
};
export type Throttle = ReturnType<typeof createThrottle>;
