/**
 * Makes what lets works of one kind happen one after the other: each waits for all that came before it with its key. Whoever gives
 * up while they wait rejects with the reason of `signal`, and does not hold up those behind.
 */
export const createTurnsByKey = () => {
  const last = new Map<string, Promise<void>>();
  return async <T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const before = last.get(key) ?? Promise.resolve();
    const over = Promise.withResolvers<void>();
    const mine = before.then(() => over.promise);
    last.set(key, mine);
    const stopped = Promise.withResolvers<never>();
    const stop = () => stopped.reject(signal?.reason);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      signal?.throwIfAborted();
      await Promise.race([before, stopped.promise]);
      return await work();
    } finally {
      signal?.removeEventListener('abort', stop);
      over.resolve();
      if (last.get(key) === mine) last.delete(key);
    }
  };
};

/** Lets work run one after the other, whatever becomes of what came before: it may take hundreds of megabytes, or write to one place. */
export const createTurns = () => {
  const inTurn = createTurnsByKey();
  return <Result>(work: () => Promise<Result>): Promise<Result> => inTurn('', work);
};

/** The same, but that nobody has two turns while somebody else waits: of one key's works one at a time stands in line with those of others. */
export const createFairTurns = () => {
  const inOwnTurn = createTurnsByKey();
  const inTurn = createTurns();
  return <Result>(key: string, work: () => Promise<Result>): Promise<Result> => inOwnTurn(key, () => inTurn(work));
};
