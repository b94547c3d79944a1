import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';

/** A file that has no name any more: it is gone as soon as it is closed, or its process is. */
export const openUnlinked = async (directory: string): Promise<FileHandle> => {
  const path = join(directory, randomUUID());
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  await unlink(path);
  return file;
};

/** How long an answer about the disk is good enough. */
const LOOK_EVERY_MS = 500;

/** Tells whether the disk below `directory` has so many bytes and `reserve` besides; what else lives there needs room, too. */
export const createDiskRoom = (directory: string, reserve: number): ((bytes: number) => Promise<boolean>) => {
  let free = 0;
  let looking: Promise<void> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  const look = async (): Promise<void> => {
    const { bavail, bsize } = await statfs(directory);
    free = bavail * bsize;
  };
  return async (bytes) => {
    if (performance.now() - lookedAt > LOOK_EVERY_MS) {
      lookedAt = performance.now();
      looking = look();
    }
    // Who comes meanwhile waits for the same look: nothing is known before it.
    await looking;
    free -= bytes;
    return free >= reserve;
  };
};
