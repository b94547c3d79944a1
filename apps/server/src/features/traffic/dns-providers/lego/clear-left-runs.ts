import { rmSync } from 'node:fs';
import type { Logger } from 'pino';

/**
 * Removes what runs left that were under way when this process was killed: a key of an account is among it. A lego that is still there
 * has read all of it, takes its records away since nobody answers it any more, and ends.
 */
export const clearLeftRuns = (directory: string, log: Pick<Logger, 'error'>): void => {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch (err) {
    log.error({ err, directory }, 'what runs of lego left could not be removed');
  }
};
