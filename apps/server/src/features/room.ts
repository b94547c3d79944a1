import { refuse } from '@sallyport/store/errors';

const RETRY_AFTER_S = '5';

/** Lets no more than `most` works of one key be under way or wait at once: each holds memory meanwhile. Throws a 429 with `message` for one more. */
export const createRoomByKey = (most: number, message: string) => {
  const inside = new Map<string, number>();
  return async <Result>(key: string, work: () => Promise<Result>): Promise<Result> => {
    const others = inside.get(key) ?? 0;
    if (others >= most) throw refuse.tooMany(message, { headers: { 'retry-after': RETRY_AFTER_S } });
    inside.set(key, others + 1);
    try {
      return await work();
    } finally {
      const left = (inside.get(key) ?? 0) - 1;
      if (left > 0) inside.set(key, left);
      else inside.delete(key);
    }
  };
};

/** The same for all works together. */
export const createRoom = (most: number, message: string) => {
  const enter = createRoomByKey(most, message);
  return <Result>(work: () => Promise<Result>): Promise<Result> => enter('', work);
};
