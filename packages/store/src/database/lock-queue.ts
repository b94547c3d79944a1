import { refuse } from '../errors.ts';
import { isStoreUnavailable } from './faults.ts';

/** Who has waited so long does not wait for another connection to fail. With a silence it makes less than ten seconds. */
const LONG_MS = 3_500;

/** What waits holds its request and what it was about to write; more would only wait longer. */
const MOST_WAITING = 1_000;
const RETRY_AFTER_S = '5';

interface Waiting {
  since: number;
  begin(): void;
  fail(error: unknown): void;
}

/**
 * Lets work run one after the other that would wait for the same lock in the database: one connection waits there for other nodes, not
 * all of them for each other, and how many wait here is no silence of the server. When the work before fails since the
 * database is away, those who have waited long fail with it. While a thousand wait, one more is refused with a 503.
 */
export const createLockQueue = () => {
  let isTaken = false;
  let waiting: Waiting[] = [];
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (isTaken && waiting.length >= MOST_WAITING) {
      throw refuse.unavailable(
        `${MOST_WAITING} changes wait for the database already, which is slow; try again in a moment`,
        {
          headers: { 'retry-after': RETRY_AFTER_S },
        },
      );
    }
    if (isTaken) {
      const { promise, resolve: begin, reject: fail } = Promise.withResolvers<void>();
      waiting.push({ since: performance.now(), begin, fail });
      await promise;
    }
    isTaken = true;
    try {
      return await work();
    } catch (error) {
      if (isStoreUnavailable(error)) {
        const latest = performance.now() - LONG_MS;
        for (const { since, fail } of waiting) if (since <= latest) fail(error);
        waiting = waiting.filter(({ since }) => since > latest);
      }
      throw error;
    } finally {
      const next = waiting.shift();
      if (next) next.begin();
      else isTaken = false;
    }
  };
};
