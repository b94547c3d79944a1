import { statfs } from 'node:fs/promises';
import { amiss, type Outcome, well } from './outcome.ts';

const LEAST_BYTES = 4 * 1024 * 1024;
const MIB = 1024 * 1024;

/** What a file system tells of itself, in blocks of `bsize` bytes. */
interface Room {
  /** Blocks that are left to who is not root. */
  bavail: number;
  bsize: number;
  /** Files that it still takes, of so many in all. */
  ffree: number;
  files: number;
}

/** Whether that is enough: a store's journal takes some writes when the disk is full already, and then no more. */
export const checkRoom = (dataDir: string, { bavail, bsize, ffree, files }: Room): Outcome => {
  const free = bavail * bsize;
  const room = `${Math.floor(free / MIB)} MiB are free on the disk of ${dataDir}`;
  if (free < LEAST_BYTES) return amiss(`Only ${room}: a reset opens the proxy, and may not be stored; make room`);
  // Some file systems have no such limit, and tell 0 of 0.
  if (files > 0 && ffree === 0) return amiss(`The disk of ${dataDir} takes no more files: remove some`);
  return well(room);
};

/** Whether the data directory has room. Rejects when that can't be found out. */
export const checkDisk = async (dataDir: string): Promise<Outcome> => checkRoom(dataDir, await statfs(dataDir));
