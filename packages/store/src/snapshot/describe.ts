import { migrationsOf } from '../database/migrate.ts';
import type { Executor } from '../database/open.ts';
import { keyIdOf } from '../secrets/vault.ts';
import { KEPT_TABLES, type TableName } from './tables.ts';

/** What a backup says of the store that its rows come from. */
export interface StoreDescription {
  /** Every step that the store has taken. */
  migrations: string[];
  /** Tables of a backup that it has: one of an earlier version lacks some. */
  tables: TableName[];
  /** Id of the key that its secrets are sealed with; undefined while nothing was ever sealed. */
  keyId: string | undefined;
}

/** Describes a store, in the transaction that its rows are read in. */
export const describeStore = async (tx: Executor): Promise<StoreDescription> => {
  const there = new Set((await tx.introspection.getTables()).map(({ name }) => name));
  const tables = KEPT_TABLES.filter((table) => there.has(table));
  // Sealed with the first change ever, and anew by every rotation of the key.
  const chain = tables.includes('audit_chain')
    ? await tx.selectFrom('audit_chain').select('key_sealed').executeTakeFirst()
    : undefined;
  return { migrations: await migrationsOf(tx), tables, keyId: keyIdOf(chain?.key_sealed ?? '') };
};
