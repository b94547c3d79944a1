import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { handOver } from '@sallyport/deployment/data-dir';
import { writeWhole } from './files.ts';
import { isBackupName } from './names.ts';
import { backupDirectory } from './shelf.ts';

/** That a backup was put into a place elsewhere, or was about to be. Outlives the backup: it tells what may be removed there. */
export interface Receipt {
  /** Name of the backup. */
  name: string;
  /** The place, as it is configured. */
  to: string;
  /** ISO 8601; null: it was begun, and what is there may be half of it. */
  copied_at: string | null;
}

const SUFFIX = '.copy';

const isReceipt = (value: unknown): value is Omit<Receipt, 'name'> => {
  if (typeof value !== 'object' || value === null) return false;
  const { to, copied_at } = value as Record<string, unknown>;
  const isMoment = typeof copied_at === 'string' && !Number.isNaN(Date.parse(copied_at));
  return typeof to === 'string' && (copied_at === null || isMoment);
};

/** What was copied elsewhere: one small file for each backup, beside it. One that gets lost has it copied again. */
export const createReceipts = (dataDir: string) => {
  const directory = backupDirectory(dataDir);

  const read = async (name: string): Promise<Receipt | undefined> => {
    try {
      const { to, copied_at } = JSON.parse(await readFile(join(directory, `${name}${SUFFIX}`), 'utf8'));
      return isReceipt({ to, copied_at }) ? { name, to, copied_at } : undefined;
    } catch {
      return undefined;
    }
  };

  /** Those of one place, newest first; only the ones that `isAsked` for by name are read. */
  async function* of(to: string, isAsked: (name: string) => boolean = () => true): AsyncGenerator<Receipt> {
    const files = await readdir(directory).catch(() => []);
    const names = files.filter((name) => name.endsWith(SUFFIX)).map((name) => name.slice(0, -SUFFIX.length));
    for (const name of names.filter(isBackupName).sort().reverse()) {
      const receipt = isAsked(name) ? await read(name) : undefined;
      if (receipt?.to === to) yield receipt;
    }
  }

  return {
    read,
    of,

    /** Of the newest backup that is in this place; undefined when none is. */
    async newest(to: string): Promise<Receipt | undefined> {
      for await (const receipt of of(to)) if (receipt.copied_at !== null) return receipt;
      return undefined;
    },

    async write({ name, to, copied_at }: Receipt): Promise<void> {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      handOver(directory, dataDir);
      await writeWhole(directory, `${name}${SUFFIX}`, JSON.stringify({ to, copied_at }));
    },

    remove: (name: string): Promise<void> => rm(join(directory, `${name}${SUFFIX}`), { force: true }),
  };
};
export type Receipts = ReturnType<typeof createReceipts>;
