import { type Config, ConfigError } from '@sallyport/deployment/config';
import { MIGRATION_NAMES, pendingMigrations } from '@sallyport/store/database/migrate';
import type { Database } from '@sallyport/store/database/open';
import { discard } from './files.ts';
import { makeBackup } from './make-backup.ts';
import { createShelf } from './shelf.ts';
import { storedPassphrase } from './stored-passphrase.ts';

/**
 * Makes a backup of a store that is about to be migrated, as it is; there is no other way back. Returns its name, or
 * undefined when there is nothing to migrate or nothing yet to lose. Throws a `ConfigError` when it can't be made.
 */
export const backUpBeforeMigration = async (
  database: Pick<Database, 'kysely' | 'kind'>,
  config: Pick<Config, 'dataDir' | 'databaseUrl' | 'encryptionKey'>,
): Promise<string | undefined> => {
  const pending = await pendingMigrations(database);
  if (pending.length === 0 || pending.length === MIGRATION_NAMES.length) return undefined;
  const shelf = createShelf(config.dataDir);
  const at = new Date();
  try {
    const passphrase = await storedPassphrase(database.kysely, config);
    const about = { kind: 'automatic', reason: 'before-migration', passphrase } as const;
    const { draft, sha256 } = await makeBackup({ config, shelf, at, ...about });
    try {
      return await shelf.keep(draft, { kind: 'automatic', at, verifiedAt: at, sha256 });
    } finally {
      await discard(draft);
    }
  } catch (error) {
    throw new ConfigError([
      `the store is of an earlier version, and the backup that must be made before it is changed failed: ${(error as Error).message}`,
    ]);
  }
};
