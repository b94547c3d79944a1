import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** As atomic-file.ts names what it has not finished. */
const UNFINISHED = /\.(\d{1,10})\.[0-9a-f]{8}\.tmp$/;

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/**
 * Removes what processes have left that ended while they wrote a file: a map of many hosts has a hundred megabytes, a certificate its key. What
 * can't be read or removed stays.
 */
export const removeLeftovers = async (directory: string): Promise<void> => {
  for (const path of await readdir(directory, { recursive: true }).catch(() => [])) {
    const [, pid] = UNFINISHED.exec(path) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) await rm(join(directory, path), { force: true }).catch(() => {});
  }
};
