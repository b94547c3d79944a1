import type { BlockQuery } from '@sallyport/contract';
import type { Executor } from '../../db/open.ts';
import type { SecurityEvent } from '../logs/security-event.ts';

const ROWS_A_STATEMENT = 1_000;
const DEFAULT_LIMIT = 50;

/** An entry and the UUID of its proxy host; null when that is gone or was unknown. */
interface StoredBlock {
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
  async list({ limit = DEFAULT_LIMIT, layer, host, ip }: BlockQuery): Promise<StoredBlock[]> {
    const rows = await select(db)
      .$if(layer !== undefined, (query) => query.where('b.layer', '=', layer ?? ''))
      .$if(host !== undefined, (query) => query.where('b.host', '=', host?.toLowerCase() ?? ''))
      .$if(ip !== undefined, (query) => query.where('b.ip', '=', ip ?? ''))
      .orderBy('b.id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(fromRow);
  },

  async find(reference: string): Promise<StoredBlock | undefined> {
    const row = await select(db).where('b.reference', '=', reference).executeTakeFirst();
    return row && fromRow(row);
  },
});
export type BlockStore = ReturnType<typeof blockStore>;
