import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Executor } from '@sallyport/store/database/open';
import { readTables } from '@sallyport/store/snapshot/read-tables';
import { KEPT_TABLES } from '@sallyport/store/snapshot/tables';

const compress = promisify(gzip);

export interface BackupDeps {
  db: Executor;
  dataDir: string;
  clock: () => Date;
}

/**
 * Makes a function that writes all rows of the store as gzipped JSON (`{format, created_at, reason, tables}`) into
 * `backups/`, 0600, and returns the file's name when it is safely on disk. Private keys stay sealed in it.
 */
export const createBackupWriter =
  ({ db, dataDir, clock }: BackupDeps) =>
  async (reason: string): Promise<string> => {
    const created_at = clock().toISOString();
    const tables = await db.transaction().execute(async (tx) => {
      const kept: Record<string, unknown[]> = {};
      for (const table of KEPT_TABLES) kept[table] = [];
      for await (const { table, rows } of readTables(tx)) kept[table]?.push(...rows);
      return kept;
    });
    const bytes = await compress(JSON.stringify({ format: 1, created_at, reason, tables }));
    const directory = join(dataDir, 'backups');
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const name = `sallyport-${created_at.replaceAll(/[:.]/g, '-')}-${reason}.json.gz`;
    const path = join(directory, name);
    const file = await open(`${path}.part`, 'w', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${path}.part`, path);
    return name;
  };
