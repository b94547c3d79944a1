import { readdirSync } from 'node:fs';
import { emptyStore } from '@sallyport/server/testing/start-app';
import { expect, test } from 'vitest';
import { MIGRATION_NAMES, migrate } from '../database/migrate.ts';
import { openDatabase } from '../database/open.ts';
import { openStoreVault } from '../secrets/store-vault.ts';
import { revisionOf } from './compare.ts';
import { readTables } from './read-tables.ts';
import { withPrepared } from './restore.ts';
import { KEPT_TABLES } from './tables.ts';

test('the room of the store that was looked at is free again as soon as it was put back', async () => {
  await emptyStore('sqlite', async (config) => {
    const { dataDir } = config;
    const database = openDatabase(config);
    await migrate(database);
    const deps = { database, vault: await openStoreVault(database, config), dataDir, clock: () => new Date() };
    const snapshot = { migrations: MIGRATION_NAMES, tables: () => readTables(database.kysely, KEPT_TABLES) };
    const left = () => readdirSync(dataDir).filter((name) => name.startsWith('restore-'));
    await withPrepared(deps, { snapshot, check: async () => {} }, async ({ putBack }) => {
      expect(left()).toHaveLength(1);
      const revision = await revisionOf(database.kysely);
      expect(await putBack(revision - 1, async () => {})).toBe(false);
      expect(left()).toHaveLength(1);
      expect(await putBack(revision, async () => {})).toBe(true);
      expect(left()).toEqual([]);
    });
    expect(left()).toEqual([]);
    await database.stop();
  });
});
