import type { BlockQuery } from '@sallyport/contract';
import { containsText, listOf, type Page, pageOf } from '@sallyport/store/database/listing';
import type { Executor } from '@sallyport/store/database/open';
import { sql } from 'kysely';
import type { SecurityEvent } from '../logs/security-event.ts';
import { keptOf, NOT_LOOKED_UP } from './country-of.ts';

const ROWS_A_STATEMENT = 1_000;
const DEFAULT_LIMIT = 50;
/** Fields of an entry, and the columns that order them. */
const SORTABLE = { timestamp: 'b.id', layer: 'b.layer', host: 'b.host', ip: 'b.ip' };

/** An entry and the UUID of its proxy host; null when that is gone or was unknown. */
export interface StoredBlock {
  event: SecurityEvent;
  hostUuid: string | null;
}

const select = (db: Executor) =>
  db.selectFrom('security_blocks as b').leftJoin('proxy_hosts as h', 'h.id', 'b.host_id').select(['b.entry', 'h.uuid']);

const fromRow = ({ entry, uuid }: { entry: string; uuid: string | null }): StoredBlock => ({
  event: JSON.parse(entry) as SecurityEvent,
  hostUuid: uuid,
});

/** What stands for the moment of an entry that nobody has told yet, and for that of one that tells none. */
const [UNTOLD, NO_MOMENT] = [0, -1];

/** What of an entry is counted, beside its name and address. */
const countedOf = ({ timestamp, monitored, rule_id }: SecurityEvent) => ({
  at_ms: Date.parse(timestamp),
  monitored: Number(monitored),
  rule_id,
});

/** The same of one that somebody else kept. */
const countedOfText = (entry: string): ReturnType<typeof countedOf> => {
  try {
    const { at_ms, ...rest } = countedOf(JSON.parse(entry) as SecurityEvent);
    return { at_ms: at_ms || NO_MOMENT, ...rest };
  } catch {
    return { at_ms: NO_MOMENT, monitored: 0, rule_id: null };
  }
};

export const blockStore = (db: Executor) => {
  /** How many are kept, which an index alone answers: from the newest on, all of them would be read. */
  const countAll = async (): Promise<number> => {
    const count = db.selectFrom('security_blocks').select((eb) => eb.fn.countAll<number | string>().as('kept'));
    return Number((await count.executeTakeFirstOrThrow()).kept);
  };

  return {
    /** Adds entries, with the country that `countryOf` tells of each address; of two with one reference the first stays. */
    async insert(events: readonly SecurityEvent[], countryOf: (ip: string) => string): Promise<void> {
      for (let from = 0; from < events.length; from += ROWS_A_STATEMENT) {
        const rows = events.slice(from, from + ROWS_A_STATEMENT).map((event) => ({
          reference: event.reference,
          host_id: event.host_id,
          layer: event.layer,
          host: event.host.toLowerCase(),
          ip: event.ip,
          ...countedOf(event),
          country: countryOf(event.ip),
          entry: JSON.stringify(event),
        }));
        await db
          .insertInto('security_blocks')
          .values(rows)
          .onConflict((conflict) => conflict.column('reference').doNothing())
          .execute();
      }
    },

    /** Keeps the newest `limit` entries. */
    async trim(limit: number): Promise<void> {
      const tooMany = (await countAll()) - limit;
      if (tooMany <= 0) return;
      const newest = await db
        .selectFrom('security_blocks')
        .select('id')
        .orderBy('id')
        .offset(tooMany - 1)
        .limit(1)
        .executeTakeFirst();
      if (newest) await db.deleteFrom('security_blocks').where('id', '<=', newest.id).execute();
    },

    /** Newest first. */
    async list(query: BlockQuery): Promise<Page<StoredBlock>> {
      const { layer, host, ip, country, search } = query;
      const matching = db
        .selectFrom('security_blocks as b')
        .$if(layer !== undefined, (rows) => rows.where('b.layer', '=', layer ?? ''))
        .$if(host !== undefined, (rows) => rows.where('b.host', '=', host?.toLowerCase() ?? ''))
        .$if(ip !== undefined, (rows) => rows.where('b.ip', '=', ip ?? ''))
        .$if(country !== undefined, (rows) => rows.where('b.country', 'in', keptOf(country ?? '')))
        .$if(search !== undefined, (rows) => rows.where(containsText(['b.entry'], search ?? '')));
      const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
      const request = pageOf(query, SORTABLE, { perPage: DEFAULT_LIMIT, order: 'desc', tie: 'b.id' });
      const rows = matching.leftJoin('proxy_hosts as h', 'h.id', 'b.host_id').select(['b.entry', 'h.uuid']);
      return listOf(rows as never, count, request, fromRow);
    },

    /** The ids of the first entry and the last; undefined when none is kept. */
    async ends(): Promise<{ oldest: number; newest: number } | undefined> {
      // One statement for each: together SQLite would read the whole table.
      const end = (order: 'asc' | 'desc') =>
        db.selectFrom('security_blocks').select('id').orderBy('id', order).limit(1).executeTakeFirst();
      const [oldest, newest] = [await end('asc'), await end('desc')];
      return oldest && newest && { oldest: oldest.id, newest: newest.id };
    },

    /**
     * Some entries that a process of an earlier version kept beside this one: without what is counted of them, and without a country, which is
     * what the index finds them by.
     */
    untold: (limit: number): Promise<{ id: number; entry: string }[]> =>
      db
        .selectFrom('security_blocks')
        .select(['id', 'entry'])
        .where('country', '=', NOT_LOOKED_UP)
        .where('at_ms', '=', UNTOLD)
        .orderBy('id')
        .limit(limit)
        .execute(),

    /** Tells what is counted of these, few of each. */
    async tell(rows: readonly { id: number; entry: string }[]): Promise<void> {
      const told = rows.map(({ id, entry }) => ({ id, ...countedOfText(entry) }));
      const cases = (column: 'at_ms' | 'monitored' | 'rule_id') =>
        sql<number>`case id ${sql.join(
          told.map((row) => sql`when ${row.id} then ${row[column]}`),
          sql` `,
        )} else ${sql.ref(column)} end`;
      await db
        .updateTable('security_blocks')
        .set({ at_ms: cases('at_ms'), monitored: cases('monitored'), rule_id: cases('rule_id') })
        .where(
          'id',
          'in',
          rows.map(({ id }) => id),
        )
        .execute();
    },

    /** Some entries whose country was not looked up yet, the oldest first. */
    withoutCountry: (limit: number): Promise<{ id: number; ip: string }[]> =>
      db
        .selectFrom('security_blocks')
        .select(['id', 'ip'])
        .where('country', '=', NOT_LOOKED_UP)
        // What is told first is found without a country.
        .where('at_ms', '<>', UNTOLD)
        .orderBy('id')
        .limit(limit)
        .execute(),

    /** Tells the country of entries with these addresses, few of each. */
    async setCountries(ids: readonly number[], countries: ReadonlyMap<string, string>): Promise<void> {
      const cases = [...countries].map(([ip, country]) => sql`when ${ip} then ${country}`);
      await db
        .updateTable('security_blocks')
        .set({ country: sql<string>`case ip ${sql.join(cases, sql` `)} else country end` })
        .where('id', 'in', ids)
        .execute();
    },

    /** The oldest of the newest `limit` entries; undefined when there are fewer. */
    async oldestOf(limit: number): Promise<SecurityEvent | undefined> {
      const tooMany = (await countAll()) - limit;
      if (tooMany < 0) return undefined;
      const row = await db
        .selectFrom('security_blocks')
        .select('entry')
        .orderBy('id')
        .offset(tooMany)
        .limit(1)
        .executeTakeFirst();
      return row && (JSON.parse(row.entry) as SecurityEvent);
    },

    /** Which of these references there are. */
    async known(references: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await db
        .selectFrom('security_blocks')
        .select('reference')
        .where('reference', 'in', references)
        .execute();
      return new Set(rows.map(({ reference }) => reference));
    },

    async find(reference: string): Promise<StoredBlock | undefined> {
      const row = await select(db).where('b.reference', '=', reference).executeTakeFirst();
      return row && fromRow(row);
    },
  };
};
export type BlockStore = ReturnType<typeof blockStore>;
