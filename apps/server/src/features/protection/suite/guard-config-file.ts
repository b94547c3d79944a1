import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GuardConfig } from '@sallyport/contract';

/** Where the guards read their configuration, below the data directory. */
export const guardConfigPath = (dataDir: string): string => join(dataDir, 'guard', 'config.json');

type Content = Omit<GuardConfig, 'revision'>;

/**
 * What is on disk. Of a file that can't be read the revision is lost: its successor gets one that no guard has reached by
 * counting, so that what a guard read before never passes for newer.
 */
const readDisk = (path: string): { revision: number; content: string | undefined } => {
  try {
    const { revision, ...content } = JSON.parse(readFileSync(path, 'utf8')) as { revision?: unknown };
    if (!Number.isSafeInteger(revision)) throw new Error('no revision');
    return { revision: revision as number, content: JSON.stringify(content) };
  } catch {
    return { revision: existsSync(path) ? Math.floor(Date.now() / 1000) : 0, content: undefined };
  }
};

/** Tells one state of the file from another; '' when there is none. */
const stampOf = (path: string): string => {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : '';
};

/**
 * Keeps the guards' configuration on disk: it is there before it is announced, whole or not at all, and for nobody
 * else to read, as rules and lists tell what is protected how. Another process may write it as well, before HAProxy starts.
 */
export const createGuardConfigFile = (dataDir: string) => {
  const path = guardConfigPath(dataDir);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let stamp = stampOf(path);
  let { revision, content: written } = readDisk(path);

  /** Two at once would write the same file. */
  let writing: Promise<unknown> = Promise.resolve();

  const isIntact = (): boolean => stampOf(path) === stamp;

  const write = async (content: Content, before: () => Promise<void>): Promise<GuardConfig | undefined> => {
    const text = JSON.stringify(content);
    if (!isIntact()) {
      const found = readDisk(path);
      stamp = stampOf(path);
      written = found.content;
      revision = Math.max(revision, found.revision);
    }
    if (text === written) return undefined;
    await before();
    const config = { revision: revision + 1, ...content };
    const temporary = `${path}.${process.pid}.new`;
    try {
      const file = await open(temporary, 'w', 0o600);
      try {
        await file.writeFile(JSON.stringify(config));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    stamp = stampOf(path);
    revision = config.revision;
    written = text;
    return config;
  };

  return {
    revision: (): number => revision,

    /** Whether nobody else has written, emptied or removed the file. */
    isIntact,

    /** Writes a configuration under the next revision, `before` awaited, unless it is what is there; returns it, or undefined. */
    write(content: Content, before: () => Promise<void> = async () => {}): Promise<GuardConfig | undefined> {
      const turn = writing.then(() => write(content, before));
      writing = turn.catch(() => {});
      return turn;
    },
  };
};
export type GuardConfigFile = ReturnType<typeof createGuardConfigFile>;
