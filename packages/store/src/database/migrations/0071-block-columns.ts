import { type Kysely, sql } from 'kysely';
import type { Database } from '../open.ts';
import type { Tables } from '../tables.ts';

/** 0 for what is no moment. */
const fillInSqlite = sql`
  update security_blocks set
    at_ms = coalesce(cast(round(unixepoch(json_extract(entry, '$.timestamp'), 'subsec') * 1000) as integer), 0),
    monitored = coalesce(json_extract(entry, '$.monitored'), 0),
    rule_id = json_extract(entry, '$.rule_id')
`;

const MOMENT =
  '^[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]+)?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])$';

/**
 * PostgreSQL fails at what is no moment, and the step must not: it is handed the first of the month, and the days that are to be added,
 * as JavaScript reads a 30th of February. Nor does its JSON take a
 * NUL, which a client may have sent: nothing that is read has an escape, and all are left out.
 */
const fillInPostgres = sql`
  update security_blocks as block set
    at_ms = case when told.timestamp ~ ${sql.lit(MOMENT)} then
      round(extract(epoch from (substr(told.timestamp, 1, 8) || '01' || substr(told.timestamp, 11))::timestamptz) * 1000)::bigint
        + (substr(told.timestamp, 9, 2)::integer - 1) * 86400000::bigint
      else 0 end,
    monitored = case when told.monitored then 1 else 0 end,
    rule_id = told.rule_id
  from (
    select id, read.* from security_blocks
      cross join lateral json_to_record(regexp_replace(entry, ${sql.lit('\\\\.')}, '', 'g')::json)
        as read(timestamp text, monitored boolean, rule_id integer)
  ) as told
  where told.id = block.id
`;

/** An entry that is damaged explains nothing, and must not keep the store from going on. */
const dropDamagedInSqlite = sql`
  delete from security_blocks where case when json_valid(entry) then json_type(entry) <> 'object' else true end
`;

/** PostgreSQL asks by trying. */
const dropDamagedInPostgres = [
  sql`
    create function is_block(entry text) returns boolean language plpgsql as ${sql.lit(`
      begin
        perform * from json_to_record(regexp_replace(entry, '\\\\.', '', 'g')::json)
          as read(timestamp text, monitored boolean, rule_id integer);
        return true;
      exception when others then
        return false;
      end
    `)}
  `,
  sql`delete from security_blocks where not is_block(entry)`,
  sql`drop function is_block`,
];

/** What refusals are listed and counted by, and beside it all that is counted: nothing else is read then. */
const INDICES: Readonly<Record<string, readonly string[]>> = {
  layer: ['id', 'at_ms', 'monitored', 'rule_id'],
  host: ['id', 'at_ms', 'monitored'],
  ip: ['id', 'at_ms', 'monitored', 'country'],
  country: ['id', 'at_ms', 'monitored'],
};

/** What refusals are counted by gets columns: who counts a million must not read a million entries. */
export const up = async (db: Kysely<Tables>, kind: Database['kind']): Promise<void> => {
  // While there is none, it is neither kept true for each row.
  for (const field of ['layer', 'host', 'ip']) await db.schema.dropIndex(`security_blocks_${field}`).execute();
  for (const step of kind === 'sqlite' ? [dropDamagedInSqlite] : dropDamagedInPostgres) await step.execute(db);
  const table = () => db.schema.alterTable('security_blocks');
  await table()
    .addColumn('at_ms', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute();
  await table()
    .addColumn('monitored', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await table().addColumn('rule_id', 'integer').execute();
  await table()
    .addColumn('country', 'text', (column) => column.notNull().defaultTo(''))
    .execute();
  await (kind === 'sqlite' ? fillInSqlite : fillInPostgres).execute(db);
  for (const [field, counted] of Object.entries(INDICES)) {
    await db.schema
      .createIndex(`security_blocks_${field}`)
      .on('security_blocks')
      .columns([field, ...counted])
      .execute();
  }
};
