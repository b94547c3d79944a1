import { availableParallelism } from 'node:os';
import type { Algorithm } from '@node-rs/argon2';
import { refuse } from '../errors.ts';

/** argon2id with OWASP's first recommendation for m=19 MiB: what one guess costs an attacker who has the hashes. */
const OPTIONS = { algorithm: 2 satisfies Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * Of a random password that nobody knows, made with OPTIONS. Compared with when there is no such user, so that an answer
 * takes as long as for one that exists.
 */
const DECOY = '$argon2id$v=19$m=19456,t=2,p=1$IC36Dxuk/3XseJ2pM4jy6g$OW9g/mvlRdgRMgtxJ0aQLWBJ9RAk6cfSHbh778xU+jc';

/** Loaded with the first password: with the memory that one hash takes, it would be a tenth of what an idle server needs. */
const argon2 = () => import('@node-rs/argon2');

const MAX_WAITING = 32;

export interface HasherLimits {
  /** Hashes computed at the same time, in threads of their own. Default: all cores but one. */
  concurrency?: number;
  /** Callers that may wait for their turn. */
  maxWaiting?: number;
}

interface Waiting {
  isLocal: boolean;
  start: () => void;
}

const normalise = (password: string): string => password.normalize('NFKC');

/**
 * Hashes passwords with argon2id off the event loop. Bounded: beyond `maxWaiting` a caller gets a 429, and callers on
 * the local host go first and always find a place, so that a flood from outside can't shut the operator out.
 */
export const createPasswordHasher = (limits: HasherLimits = {}) => {
  const { concurrency = Math.max(1, availableParallelism() - 1), maxWaiting = MAX_WAITING } = limits;
  const queue: Waiting[] = [];
  let running = 0;

  const turn = async (isLocal: boolean): Promise<void> => {
    if (running < concurrency) {
      running += 1;
      return;
    }
    if (queue.length >= (isLocal ? 2 * maxWaiting : maxWaiting)) {
      throw refuse.tooMany('Too many sign-in attempts; try again in a moment', { headers: { 'retry-after': '2' } });
    }
    await new Promise<void>((start) => {
      const firstOutsider = queue.findIndex((waiting) => !waiting.isLocal);
      queue.splice(isLocal && firstOutsider >= 0 ? firstOutsider : queue.length, 0, { isLocal, start });
    });
  };

  const inTurn = async <T>(isLocal: boolean, work: () => Promise<T>): Promise<T> => {
    await turn(isLocal);
    try {
      return await work();
    } finally {
      // The place goes to the next one; only when nobody waits is it given back.
      const next = queue.shift();
      if (next) next.start();
      else running -= 1;
    }
  };

  return {
    /** Returns the PHC string to store. Throws a 429 when too many wait. */
    hash: (password: string, isLocal: boolean): Promise<string> =>
      inTurn(isLocal, async () => (await argon2()).hash(normalise(password), OPTIONS)),

    /**
     * Tells whether `password` belongs to the hash that `find` gives; null (no such user) takes the same time and is
     * always false. `find` is called when it is this caller's turn, so that a refused flood never reaches the store.
     */
    verify: (find: () => Promise<string | null>, password: string, isLocal: boolean): Promise<boolean> =>
      inTurn(isLocal, async () => {
        const stored = await find();
        const { verify } = await argon2();
        const matches = await verify(stored ?? DECOY, normalise(password));
        return matches && stored !== null;
      }),
  };
};
export type PasswordHasher = ReturnType<typeof createPasswordHasher>;
