import { sql } from 'kysely';
import type { Database, Executor } from '../database/open.ts';

/** Sequences of PostgreSQL and the tables whose ids come from them. */
const sequencesOf = async (db: Executor): Promise<{ table: string; sequence: string }[]> => {
  const { rows } = await sql<{ table: string; sequence: string | null }>`
    select table_name as "table", pg_get_serial_sequence(quote_ident(table_name), 'id') as sequence
    from information_schema.columns where table_schema = current_schema() and column_name = 'id'
  `.execute(db);
  return rows.flatMap(({ table, sequence }) => (sequence === null ? [] : [{ table, sequence }]));
};

/** The last id that each table has given, also where that row is gone again. */
export const lastIds = async (db: Executor, kind: Database['kind']): Promise<Map<string, number>> => {
  if (kind === 'sqlite') {
    const { rows } = await sql<{ name: string; seq: number }>`select name, seq from sqlite_sequence`.execute(db);
    return new Map(rows.map(({ name, seq }) => [name, seq]));
  }
  const last = new Map<string, number>();
  for (const { table, sequence } of await sequencesOf(db)) {
    const { rows } = await sql<{ last: string | number }>`
      select case when is_called then last_value else 0 end as last from ${sql.raw(sequence)}
    `.execute(db);
    last.set(table, Number(rows[0]?.last ?? 0));
  }
  return last;
};

/**
 * Sees that no id is given a second time, whoever gave it: neither those of the rows that are there, nor up to `given`.
 * Never lowers anything.
 */
export const raiseSequences = async (
  tx: Executor,
  kind: Database['kind'],
  given: ReadonlyMap<string, number>,
): Promise<void> => {
  if (kind === 'sqlite') {
    // Of what is in a table it knows by itself.
    for (const [name, seq] of given) {
      await sql`update sqlite_sequence set seq = max(seq, ${seq}) where name = ${name}`.execute(tx);
      await sql`
        insert into sqlite_sequence (name, seq)
        select ${name}, ${seq} where not exists (select 1 from sqlite_sequence where name = ${name})
      `.execute(tx);
    }
    return;
  }
  const before = await lastIds(tx, kind);
  for (const { table, sequence } of await sequencesOf(tx)) {
    const { rows } = await sql<{ highest: number | null }>`
      select max(id) as highest from ${sql.table(table)}
    `.execute(tx);
    const last = Math.max(rows[0]?.highest ?? 0, before.get(table) ?? 0, given.get(table) ?? 0);
    if (last > 0) await sql`select setval(${sequence}, ${last})`.execute(tx);
  }
};
