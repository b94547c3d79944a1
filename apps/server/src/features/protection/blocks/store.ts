import type { BlockQuery } from '@sallyport/contract';
import { containsText, listOf, type Page, pageOf } from '@sallyport/store/database/listing';
import type { Executor } from '@sallyport/store/database/open';
import type { SecurityEvent } from '../logs/security-event.ts';

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

export const blockStore = (db: Executor) => ({
  /** Adds entries; of two with one reference the first stays. */
  async insert(events: readonly SecurityEvent[]): Promise<void> {
    for (let from = 0; from < events.length; from += ROWS_A_STATEMENT) {
      const rows = events.slice(from, from + ROWS_A_STATEMENT).map((event) => ({
        reference: event.reference,
        host_id: event.host_id,
        layer: event.layer,
        host: event.host.toLowerCase(),
        ip: event.ip,
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
    const oldest = await db
      .selectFrom('security_blocks')
      .select('id')
      .orderBy('id', 'desc')
      .offset(limit)
      .limit(1)
      .executeTakeFirst();
    if (oldest) await db.deleteFrom('security_blocks').where('id', '<=', oldest.id).execute();
  },

  /** Newest first. */
  async list(query: BlockQuery): Promise<Page<StoredBlock>> {
    const { layer, host, ip, search } = query;
    const matching = db
      .selectFrom('security_blocks as b')
      .leftJoin('proxy_hosts as h', 'h.id', 'b.host_id')
      .$if(layer !== undefined, (rows) => rows.where('b.layer', '=', layer ?? ''))
      .$if(host !== undefined, (rows) => rows.where('b.host', '=', host?.toLowerCase() ?? ''))
      .$if(ip !== undefined, (rows) => rows.where('b.ip', '=', ip ?? ''))
      .$if(search !== undefined, (rows) => rows.where(containsText(['b.entry'], search ?? '')));
    const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
    const request = pageOf(query, SORTABLE, { perPage: DEFAULT_LIMIT, order: 'desc', tie: 'b.id' });
    return listOf(matching.select(['b.entry', 'h.uuid']) as never, count, request, fromRow);
  },

  /** The ids of the first entry and the last; undefined when none is kept. */
  async ends(): Promise<{ oldest: number; newest: number } | undefined> {
    // One statement for each: together SQLite would read the whole table.
    const end = (order: 'asc' | 'desc') =>
      db.selectFrom('security_blocks').select('id').orderBy('id', order).limit(1).executeTakeFirst();
    const [oldest, newest] = [await end('asc'), await end('desc')];
    return oldest && newest && { oldest: oldest.id, newest: newest.id };
  },

  /** The newest entries with a smaller id, newest first, as they are stored. */
  before: (id: number, limit: number): Promise<{ id: number; entry: string; host: string }[]> =>
    db
      .selectFrom('security_blocks')
      .select(['id', 'entry', 'host'])
      .where('id', '<', id)
      .orderBy('id', 'desc')
      .limit(limit)
      .execute(),

  /** The oldest of the newest `limit` entries; undefined when there are fewer. */
  async oldestOf(limit: number): Promise<SecurityEvent | undefined> {
    const row = await db
      .selectFrom('security_blocks')
      .select('entry')
      .orderBy('id', 'desc')
      .offset(limit - 1)
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
});
export type BlockStore = ReturnType<typeof blockStore>;
