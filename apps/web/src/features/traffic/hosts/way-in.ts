import { ApiError } from '../../../api/api-error.ts';
import type { Query } from '../../../api/client.ts';

/** How long a change that may lock its maker out stands unless it is confirmed. */
const CONFIRM_SECONDS = 120;

/** Whether a change was refused because its maker may not get here any more afterwards, and would not be if it went back by itself. */
const isLockOut = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 409 && error.details?.includes('confirm_within') === true;

/**
 * Makes a change of hosts. When it may lock its maker out, `question` is asked with the reason, and a yes makes a change that goes back by
 * itself unless it is confirmed. Rejects as `change` does.
 */
export const keepingWayIn = async <T>(
  change: (query: Query) => Promise<T>,
  question: (reason: string, seconds: number) => string,
): Promise<T> => {
  try {
    return await change({});
  } catch (error) {
    if (!isLockOut(error) || !window.confirm(question(error.message, CONFIRM_SECONDS))) throw error;
    return change({ confirm_within: CONFIRM_SECONDS });
  }
};
