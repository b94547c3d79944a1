import type { Executor } from '../../db/open.ts';
import type { SecurityEvent } from '../logs/security-event.ts';

const ROWS_A_STATEMENT = 1_000;

export const blockStore = (db: Executor) => ({
  /** Adds entries; of two with one reference the first stays. */
  async insert(events: readonly SecurityEvent[]): Promise<void> {
    for (let from = 0; from < events.length; from += ROWS_A_STATEMENT) {
      const rows = events.slice(from, from + ROWS_A_STATEMENT).map((event) => ({
        reference: event.reference,
        host_id: event.host_id,
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

  async find(reference: string): Promise<{ event: SecurityEvent; hostUuid: string | null } | undefined> {
    const row = await db
      .selectFrom('security_blocks as b')
      .leftJoin('proxy_hosts as h', 'h.id', 'b.host_id')
      .select(['b.entry', 'h.uuid'])
      .where('b.reference', '=', reference)
      .executeTakeFirst();
    return row && { event: JSON.parse(row.entry) as SecurityEvent, hostUuid: row.uuid };
  },
});
export type BlockStore = ReturnType<typeof blockStore>;
