import { sql } from 'kysely';
import type { Database, Executor } from '../database/open.ts';
import { noteRestore } from '../database/restores.ts';
import { insertRows, readSchema, type Schema } from './insert-rows.ts';
import { type Row, readTables, type TableRows } from './read-tables.ts';
import { lastIds, raiseSequences } from './sequences.ts';
import { ALL_TABLES, KEPT_TABLES, TABLES, type TableName } from './tables.ts';

/** Whether nobody has used this store yet: it has no user, and nothing was ever written down. */
export const isUnused = async (db: Executor): Promise<boolean> => {
  for (const table of ['users', 'audit_logs', 'proxy_hosts'] as const) {
    if (await db.selectFrom(table).select('id').limit(1).executeTakeFirst()) return false;
  }
  return true;
};

/** Bans that are not over and not there yet, under new ids: nothing refers to the old ones. */
const missingDecisions = async (tx: Executor, rows: readonly Row[], now: string): Promise<Row[]> => {
  const uuids = rows.map(({ uuid }) => String(uuid));
  const found = await tx.selectFrom('decisions').select('uuid').where('uuid', 'in', uuids).execute();
  const known = new Set(found.map(({ uuid }) => uuid));
  const lasts = ({ expires_at }: Row) => expires_at === null || expires_at === undefined || expires_at > now;
  return rows.filter((row) => lasts(row) && !known.has(String(row.uuid))).map(({ id: _, ...row }) => row);
};

const putRows = async (
  tx: Executor,
  kind: Database['kind'],
  schema: Schema,
  { table, rows }: TableRows,
  now: string,
): Promise<void> => {
  if (table === 'decisions') {
    await insertRows(tx, kind, schema, { table, rows: await missingDecisions(tx, rows, now) });
  } else {
    await insertRows(tx, kind, schema, { table, rows }, { skip: TABLES[table as TableName].onRestore === 'add' });
  }
};

/**
 * Explanations of refusals name hosts by id: of a host that is another one now, or gone, they would tell untruths. Answers to
 * requests that made something may tell of what is not there any more.
 */
const forgetWhatPassed = async (tx: Executor): Promise<void> => {
  await tx
    .deleteFrom('security_blocks')
    .where('host_id', 'is not', null)
    .where('host_id', 'not in', tx.selectFrom('proxy_hosts').select('id'))
    .execute();
  await tx.deleteFrom('idempotency_keys').where('answered', '=', 1).execute();
};

export interface PutBackOptions {
  kind: Database['kind'];
  /** A store of this version, checked. */
  staged: Executor;
  now: string;
}

/**
 * Puts what `staged` holds in place of what the store of `tx` holds, as `TABLES` says: all of it in the caller's transaction.
 * A store that nobody has used takes everything. Counters that others compare with what they saw go up.
 */
export const putBack = async (tx: Executor, { kind, staged, now }: PutBackOptions): Promise<void> => {
  const takesAll = await isUnused(tx);
  const replaced = KEPT_TABLES.filter((table) => takesAll || TABLES[table].onRestore === 'replace');
  const given = KEPT_TABLES.filter((table) => replaced.includes(table) || TABLES[table].onRestore === 'add');
  const schema = await readSchema(tx);
  // What refers to others goes first.
  for (const table of replaced.toReversed()) await tx.deleteFrom(table).execute();
  for await (const portion of readTables(staged, given)) await putRows(tx, kind, schema, portion, now);
  await forgetWhatPassed(tx);
  await tx.updateTable('decision_versions').set({ version: sql<number>`version + 1` }).execute();
  await noteRestore(tx);
  await raiseSequences(tx, kind, await lastIds(staged, 'sqlite'));
};

/** Puts all rows of a store of this version into another one that nobody has used, in the caller's transaction. */
export const copyTables = async (
  tx: Executor,
  kind: Database['kind'],
  source: { tx: Executor; kind: Database['kind'] },
): Promise<Map<string, number>> => {
  const schema = await readSchema(tx);
  const counts = new Map<string, number>();
  for (const table of ALL_TABLES.toReversed()) await tx.deleteFrom(table).execute();
  for await (const { table, rows } of readTables(source.tx, ALL_TABLES)) {
    await insertRows(tx, kind, schema, { table, rows });
    counts.set(table, (counts.get(table) ?? 0) + rows.length);
  }
  await raiseSequences(tx, kind, await lastIds(source.tx, source.kind));
  return counts;
};
