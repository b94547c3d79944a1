import type { AuditEntry, AuditQuery } from '@sallyport/contract';
import type { Selectable } from 'kysely';
import type { AuditChainRow, AuditLogRow } from '../database/audit-tables.ts';
import { containsText, listOf, type Page, pageOf } from '../database/listing.ts';
import type { Executor } from '../database/open.ts';

export type StoredEntry = Selectable<AuditLogRow>;
export type StoredChain = Selectable<AuditChainRow>;

const toEntry = ({ details, hash, ...entry }: StoredEntry): AuditEntry => ({
  ...entry,
  details: JSON.parse(details) as AuditEntry['details'],
});

const SORTABLE = { timestamp: 'id', action: 'action', actor: 'actor', ip: 'ip', resource: 'resource' };
const SEARCHED = ['action', 'actor', 'ip', 'path', 'resource'];
const ENTRIES_AN_ANSWER = 100;
const ENTRIES_A_QUERY = 1_000;

export const auditStore = (db: Executor) => ({
  /** Newest first; `start` and `end` as the stored timestamps are written. */
  async list(query: AuditQuery): Promise<Page<AuditEntry>> {
    const { start, end, before_id, action, search } = query;
    const matching = db
      .selectFrom('audit_logs')
      .$if(start !== undefined, (rows) => rows.where('timestamp', '>=', start ?? ''))
      .$if(end !== undefined, (rows) => rows.where('timestamp', '<=', end ?? ''))
      .$if(before_id !== undefined, (rows) => rows.where('id', '<', before_id ?? 0))
      .$if(action !== undefined, (rows) => rows.where('action', '=', action ?? ''))
      .$if(search !== undefined, (rows) => rows.where(containsText(SEARCHED, search ?? '')));
    const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
    const request = pageOf(query, SORTABLE, { perPage: ENTRIES_AN_ANSWER, order: 'desc' });
    return listOf(matching.selectAll(), count, request, toEntry);
  },

  /** Takes the lock that orders entries, and reads the chain's ends. */
  async lockChain(): Promise<StoredChain> {
    return db.updateTable('audit_chain').set({ id: 1 }).where('id', '=', 1).returningAll().executeTakeFirstOrThrow();
  },

  async readChain(): Promise<StoredChain> {
    return db.selectFrom('audit_chain').selectAll().where('id', '=', 1).executeTakeFirstOrThrow();
  },

  async setChain(chain: Partial<StoredChain>): Promise<void> {
    await db.updateTable('audit_chain').set(chain).where('id', '=', 1).execute();
  },

  /** Adds entries, at most some hundred. */
  async insert(entries: readonly StoredEntry[]): Promise<void> {
    await db.insertInto('audit_logs').values(entries).execute();
  },

  /** Entries after `id`, oldest first, in portions. */
  async *after(id: number): AsyncGenerator<StoredEntry[]> {
    for (let last = id; ; ) {
      const rows = await db
        .selectFrom('audit_logs')
        .selectAll()
        .where('id', '>', last)
        .orderBy('id')
        .limit(ENTRIES_A_QUERY)
        .execute();
      if (rows.length === 0) return;
      last = rows.at(-1)?.id ?? last;
      yield rows;
    }
  },

  /** The oldest entry, to see whether entries stand before the anchor. */
  async oldest(): Promise<StoredEntry | undefined> {
    return db.selectFrom('audit_logs').selectAll().orderBy('id').limit(1).executeTakeFirst();
  },

  /** Id of the newest entry; 0 when there is none. */
  async newestId(): Promise<number> {
    const newest = await db.selectFrom('audit_logs').select('id').orderBy('id', 'desc').limit(1).executeTakeFirst();
    return newest?.id ?? 0;
  },

  /** Whether there is a user: none is made without an entry. */
  async hasUsers(): Promise<boolean> {
    return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined;
  },

  /** The last entry of the oldest ones that were all written before `moment`. */
  async lastBefore(moment: string): Promise<StoredEntry | undefined> {
    const kept = await db
      .selectFrom('audit_logs')
      .select('id')
      .where('timestamp', '>=', moment)
      .orderBy('id')
      .limit(1)
      .executeTakeFirst();
    return db
      .selectFrom('audit_logs')
      .selectAll()
      .$if(kept !== undefined, (query) => query.where('id', '<', kept?.id ?? 0))
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst();
  },

  async deleteUpTo(id: number): Promise<number> {
    const { numDeletedRows } = await db.deleteFrom('audit_logs').where('id', '<=', id).executeTakeFirst();
    return Number(numDeletedRows);
  },
});
export type AuditStore = ReturnType<typeof auditStore>;
