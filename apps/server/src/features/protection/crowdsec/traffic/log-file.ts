import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';

/** After so many bytes a new file is begun; the one before is kept. */
const FILE_BYTES = 16 * 1024 * 1024;
/** What waits for a slow disk at most. */
const WAITING_BYTES = 1024 * 1024;
/** Lines of so long are written together. */
const GATHER_MS = 100;
/** So long after a failure it is tried again. */
const RETRY_MS = 1_000;

export interface LogFileOptions {
  path: string;
  /** Group that may read it; undefined: it stays in ours. */
  group: number | undefined;
  fileBytes?: number;
}

/**
 * A log of bounded size that another program follows. Lines are gathered and appended; a file that was deleted or moved is made again, a
 * large one gives way to a new one under the same name. What can't be written is dropped and counted: nobody waits for a disk.
 */
export const createLogFile = ({ path, group, fileBytes = FILE_BYTES }: LogFileOptions) => {
  let waiting: string[] = [];
  let waitingBytes = 0;
  let file: FileHandle | undefined;
  let size = 0;
  let written = 0;
  let dropped = 0;
  let issue: string | null = null;
  /** The last write may have ended in the middle of a line. */
  let isTorn = false;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;

  const close = async (): Promise<void> => {
    const old = file;
    file = undefined;
    await old?.close();
  };

  /** Made under another name: whoever follows must never meet one that it can't read. */
  const begin = async (): Promise<void> => {
    await rm(`${path}.new`, { force: true });
    const made = await open(`${path}.new`, 'ax', 0o640);
    try {
      await made.chmod(0o640);
      if (group !== undefined) await made.chown(0, group);
      await rename(`${path}.new`, path);
    } catch (error) {
      await made.close();
      await rm(`${path}.new`, { force: true });
      throw error;
    }
    [file, size, isTorn] = [made, 0, false];
  };

  const isThere = async (): Promise<boolean> => {
    if (!file) return false;
    const [named, own] = await Promise.all([stat(path).catch(() => undefined), file.stat()]);
    // Somebody who emptied it meant it.
    size = own.size;
    return named?.ino === own.ino && named.dev === own.dev;
  };

  const reopen = async (): Promise<void> => {
    await close();
    const found = await stat(path).catch(() => undefined);
    if (!found?.isFile()) return begin();
    file = await open(path, 'a', 0o640);
    size = found.size;
    isTorn = size > 0;
  };

  const write = async (text: string): Promise<void> => {
    if (!(await isThere())) await reopen();
    if (size >= fileBytes) {
      await rename(path, `${path}.1`);
      await close();
      await begin();
    }
    const whole = isTorn ? `\n${text}` : text;
    isTorn = true;
    await file?.appendFile(whole);
    isTorn = false;
  };

  const flush = async (): Promise<void> => {
    const lines = waiting;
    [waiting, waitingBytes] = [[], 0];
    if (lines.length === 0) return;
    try {
      await write(lines.join(''));
      written += lines.length;
      issue = null;
    } catch (error) {
      dropped += lines.length;
      issue = `its log can't be written: ${(error as Error).message}`;
      await close().catch(() => undefined);
    }
  };

  const flushSoon = (): void => {
    timer ??= setTimeout(
      () => {
        writing = flush().then(() => {
          timer = undefined;
          if (waiting.length > 0 && !isClosed) flushSoon();
        });
      },
      issue === null ? GATHER_MS : RETRY_MS,
    ).unref();
  };

  return {
    /** Takes one line, without its end. */
    append(line: string): void {
      if (isClosed || waitingBytes + line.length > WAITING_BYTES) {
        dropped += 1;
        return;
      }
      waiting.push(`${line}\n`);
      waitingBytes += line.length + 1;
      flushSoon();
    },

    counts: () => ({ written, dropped }),
    /** Why nothing is written, in words. */
    issue: (): string | null => issue,

    /** Writes what waits, and takes nothing more. */
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await writing;
      await flush();
      await close();
    },
  };
};
export type LogFile = ReturnType<typeof createLogFile>;
