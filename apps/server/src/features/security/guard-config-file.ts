import { mkdirSync, readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { GuardConfig } from '@sallyport/contract';

/** Where the guards read their configuration, below the data directory. */
export const guardConfigPath = (dataDir: string): string => join(dataDir, 'guard', 'config.json');

/** The revision on disk, 0 when there is none that can be read: the next one is written anyway. */
const revisionOnDisk = (path: string): number => {
  try {
    const { revision } = JSON.parse(readFileSync(path, 'utf8')) as { revision?: unknown };
    return Number.isSafeInteger(revision) ? (revision as number) : 0;
  } catch {
    return 0;
  }
};

/**
 * Keeps the guards' configuration on disk: it is there before it is announced, whole or not at all, and for nobody
 * else to read, as rules and lists tell what is protected how.
 */
export const createGuardConfigFile = (dataDir: string) => {
  const path = guardConfigPath(dataDir);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let revision = revisionOnDisk(path);
  let written: string | undefined;
  return {
    revision: (): number => revision,

    /** Writes a configuration under the next revision unless it is what was written last; returns it, or undefined. */
    async write(content: Omit<GuardConfig, 'revision'>): Promise<GuardConfig | undefined> {
      const text = JSON.stringify(content);
      if (text === written) return undefined;
      const config = { revision: revision + 1, ...content };
      const temporary = `${path}.new`;
      const file = await open(temporary, 'w', 0o600);
      try {
        await file.writeFile(JSON.stringify(config));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
      revision = config.revision;
      written = text;
      return config;
    },
  };
};
export type GuardConfigFile = ReturnType<typeof createGuardConfigFile>;
