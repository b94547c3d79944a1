import { randomBytes } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

export type WriteOptions = {
  /** Reach the disk before returning, the directory entry included. */
  durable: boolean;
};

const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};

/** Whether a file holds exactly this; false when there is none. */
export const holdsText = async (path: string, chunks: Iterable<string | Uint8Array>): Promise<boolean> => {
  const file = await open(path, 'r').catch(() => undefined);
  if (!file) return false;
  try {
    for (const chunk of chunks) {
      const expected = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(expected.length), 0, expected.length);
      if (bytesRead !== expected.length || !buffer.equals(expected)) return false;
    }
    return (await file.read(Buffer.alloc(1), 0, 1)).bytesRead === 0;
  } finally {
    await file.close();
  }
};

/** What Node says of a fault but for the call and the path, which need not be those of the file that was to be written. */
const reasonOf = (fault: unknown): string => {
  const { message } = fault as NodeJS.ErrnoException;
  return message.replace(/, \w+(?: '.*')?$/, '');
};

const replaceFile = async (path: string, chunks: Iterable<string | Uint8Array>, durable: boolean): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      // Not `write`, which on a disk that gets full writes a part, and says so in what it returns.
      for (const chunk of chunks) await file.appendFile(chunk);
      if (durable) await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (fault) {
    // What went wrong first is told; a start removes what is left.
    await rm(temporary, { force: true }).catch(() => {});
    throw fault;
  }
  if (durable) await syncDirectory(dirname(path));
};

/**
 * Replaces a file at once: whoever opens it, HAProxy starting at any moment, sees the old or the new content, never a
 * part. `chunks` may be lazy, so that a large map is never one string. Mode 0600; missing directories get 0700. Throws an
 * `Error` that names the file and says why it can't be written, with the fault as its cause.
 */
export const writeFileAtomically = async (
  path: string,
  chunks: Iterable<string | Uint8Array>,
  { durable }: WriteOptions,
): Promise<void> => {
  try {
    await replaceFile(path, chunks, durable);
  } catch (cause) {
    throw new Error(`cannot write ${path}: ${reasonOf(cause)}`, { cause });
  }
};
