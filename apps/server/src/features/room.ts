import { refuse } from '@sallyport/store/errors';

const RETRY_AFTER_S = '5';

/** Lets no more than `most` works be under way or wait at once: each holds memory meanwhile. Throws a 429 with `message` for one more. */
export const createRoom = (most: number, message: string) => {
  let inside = 0;
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (inside >= most) throw refuse.tooMany(message, { headers: { 'retry-after': RETRY_AFTER_S } });
    inside += 1;
    try {
      return await work();
    } finally {
      inside -= 1;
    }
  };
};
