import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Executor } from '../database/open.ts';
import { isUnused } from './put-back.ts';
import { type Row, readTables } from './read-tables.ts';
import { KEPT_TABLES, TABLES, type TableName } from './tables.ts';

/** How many objects a restore would make, change and remove. */
export interface Difference {
  added: number;
  changed: number;
  removed: number;
}

export type Differences = Readonly<Record<string, Difference>>;

/** What follows from other tables, or is found out anew, is nobody's change. */
const UNTOLD: readonly TableName[] = [
  ...(['proxy_host_names', 'origin_addresses', 'certificate_orders', 'order_ledger', 'revoked_certificates'] as const),
];
/** Columns that change by themselves, or at every sealing. */
const VOLATILE = new Set([
  'id',
  'reachable',
  'last_checked',
  'last_login',
  'last_used_at',
  'key_sealed',
  'eab_hmac_sealed',
  'secrets_sealed',
]);

/** What an object is known by in both states. */
const identityOf = (table: TableName, row: Row): string =>
  String(row.uuid ?? TABLES[table].key.map((column) => row[column]).join(' '));

const digestOf = (row: Row): string => {
  const told = Object.entries(row).filter(([column]) => !VOLATILE.has(column));
  return createHash('sha256').update(JSON.stringify(told)).digest('base64');
};

const digests = async (db: Executor, table: TableName): Promise<Map<string, string>> => {
  const found = new Map<string, string>();
  for await (const { rows } of readTables(db, [table])) {
    for (const row of rows) found.set(identityOf(table, row), digestOf(row));
  }
  return found;
};

const compareTable = async (now: Executor, staged: Executor, table: TableName): Promise<Difference> => {
  const present = await digests(now, table);
  const difference = { added: 0, changed: 0, removed: 0 };
  for await (const { rows } of readTables(staged, [table])) {
    for (const row of rows) {
      const identity = identityOf(table, row);
      const digest = present.get(identity);
      present.delete(identity);
      if (digest === undefined) difference.added += 1;
      else if (digest !== digestOf(row)) difference.changed += 1;
    }
  }
  difference.removed = TABLES[table].onRestore === 'add' ? 0 : present.size;
  if (TABLES[table].onRestore === 'add') difference.changed = 0;
  return difference;
};

/** What a store would be changed by if `staged` were put back into it, by table; those that stay as they are are left out. */
export const compareStores = async (now: Executor, staged: Executor): Promise<Differences> => {
  const takesAll = await isUnused(now);
  const differences: Record<string, Difference> = {};
  for (const table of KEPT_TABLES) {
    if (UNTOLD.includes(table) || !(takesAll || TABLES[table].onRestore !== 'leave')) continue;
    const difference = await compareTable(now, staged, table);
    if (difference.added + difference.changed + difference.removed > 0) differences[table] = difference;
  }
  return differences;
};

/** The revision of the store's newest change. */
export const revisionOf = async (db: Executor): Promise<number> => {
  const { rows } = await sql<{ revision: string | number }>`select revision from revisions where id = 1`.execute(db);
  return Number(rows[0]?.revision ?? 0);
};
