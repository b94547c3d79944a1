import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { handOver } from '@sallyport/deployment/data-dir';

/** A file that is not a backup yet: nobody lists it, and the next start removes it if this process does not. */
export interface Draft {
  path: string;
  file: FileHandle;
}

const DRAFT = /^\.(\d{1,10})-[0-9a-f]{12}\.draft$/;
const SYNCED_TOGETHER = 256 * 1024;

const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};

/** Opens a new file in `directory`, for nobody else to read. */
export const openDraft = async (directory: string): Promise<Draft> => {
  const path = join(directory, `.${process.pid}-${randomBytes(6).toString('hex')}.draft`);
  return { path, file: await open(path, 'wx', 0o600) };
};

/** Removes a draft that was not kept; harmless for one that was. */
export const discard = async ({ path, file }: Draft): Promise<void> => {
  await file.close().catch(() => {});
  await rm(path, { force: true });
};

/** Gives a draft its name once all of it, and the name, are on disk. */
export const keepAs = async ({ path, file }: Draft, directory: string, name: string): Promise<void> => {
  await file.sync();
  await file.close();
  handOver(path, join(directory, '..'));
  await rename(path, join(directory, name));
  await syncDirectory(directory);
};

/** Writes a small file that is there whole, or as it was. */
export const writeWhole = async (directory: string, name: string, text: string): Promise<void> => {
  const draft = await openDraft(directory);
  try {
    await draft.file.writeFile(text);
    await keepAs(draft, directory, name);
  } finally {
    await discard(draft);
  }
};

/** Of a file's bytes, hex. */
export const digestOf = async (path: string): Promise<string> => {
  const digest = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: SYNCED_TOGETHER })) digest.update(piece as Buffer);
  return digest.digest('hex');
};

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** Removes drafts of processes that ended while they wrote. For a start: one of this process's number is another's, too. */
export const removeDrafts = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory)) {
    const [, pid] = DRAFT.exec(name) ?? [];
    if (pid === undefined || (Number(pid) !== process.pid && isRunning(Number(pid)))) continue;
    await rm(join(directory, name), { force: true });
  }
};

/** Changes whenever a file is written to or replaced. */
export const stampOf = async (path: string): Promise<string> => {
  const { size, mtimeNs, ino } = await stat(path, { bigint: true });
  return `${size} ${mtimeNs} ${ino}`;
};
