import { randomUUID } from 'node:crypto';
import type { Decision, DecisionQuery } from '@sallyport/contract';
import { columnOf, type Identifier } from '@sallyport/store/database/identifier';
import { containsText, listOf, type Page, pageOf } from '@sallyport/store/database/listing';
import type { Executor } from '@sallyport/store/database/open';
import type { DecisionRow } from '@sallyport/store/database/security-tables';
import { type Selectable, sql } from 'kysely';

/** A decision as it is stored. */
export type StoredDecision = Omit<Decision, 'warnings'>;

/** A decision in force, as far as enforcement needs it. */
export interface LiveDecision {
  ip: string;
  uuid: string;
  source: string;
  expires_at: string | null;
}

/** One of many decisions of a program such as CrowdSec. */
export interface ImportedDecision {
  /** Canonical address or CIDR range. */
  ip: string;
  details: string;
  expires_at: string | null;
}

const DEFAULT_LIMIT = 50;
/** SQLite binds at most 32,766 values a statement; a row of decisions has seven. */
const ROWS_A_STATEMENT = 4_000;
const VALUES_A_STATEMENT = 30_000;

const portions = function* <T>(items: readonly T[], size: number): Generator<T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
};

const SORTABLE = ['ip', 'source', 'created_at', 'expires_at'] as const;

const fromRow = (row: Selectable<DecisionRow>): StoredDecision => ({
  ...row,
  action: row.action as Decision['action'],
});

export const decisionStore = (db: Executor) => {
  const live = (now: string) =>
    db.selectFrom('decisions').where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]));

  return {
    /** Newest first. */
    async list(query: DecisionQuery, now: string): Promise<Page<StoredDecision>> {
      const { source, search } = query;
      const matching = live(now)
        .$if(source !== undefined, (rows) => rows.where('source', '=', source ?? ''))
        .$if(search !== undefined, (rows) => rows.where(containsText(['ip', 'details', 'source'], search ?? '')));
      const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
      const request = pageOf(query, SORTABLE, { perPage: DEFAULT_LIMIT, order: 'desc' });
      return listOf(matching.selectAll(), count, request, fromRow);
    },

    async find(named: Identifier, now: string): Promise<StoredDecision | undefined> {
      const row = await live(now).selectAll().where(columnOf(named), '=', named).executeTakeFirst();
      return row && fromRow(row);
    },

    async count(now: string): Promise<number> {
      const { total } = await live(now)
        .select((eb) => eb.fn.countAll<number>().as('total'))
        .executeTakeFirstOrThrow();
      return Number(total);
    },

    allLive: (now: string): Promise<LiveDecision[]> =>
      live(now).select(['ip', 'uuid', 'source', 'expires_at']).execute(),

    async liveFor(networks: readonly string[], now: string): Promise<LiveDecision[]> {
      const found: LiveDecision[] = [];
      for (const portion of portions(networks, VALUES_A_STATEMENT)) {
        const query = live(now).select(['ip', 'uuid', 'source', 'expires_at']).where('ip', 'in', portion);
        for (const row of await query.execute()) found.push(row);
      }
      return found;
    },

    async insert(decision: Omit<StoredDecision, 'id'> & { id?: number }): Promise<StoredDecision> {
      const row = await db.insertInto('decisions').values(decision).returningAll().executeTakeFirstOrThrow();
      return fromRow(row);
    },

    async delete(id: number): Promise<void> {
      await db.deleteFrom('decisions').where('id', '=', id).execute();
    },

    async insertMany(source: string, decisions: readonly ImportedDecision[], now: string): Promise<void> {
      const toRow = ({ ip, details, expires_at }: ImportedDecision) => ({
        uuid: randomUUID(),
        ip,
        action: 'block',
        details,
        source,
        created_at: now,
        expires_at,
      });
      for (const portion of portions(decisions, ROWS_A_STATEMENT)) {
        await db.insertInto('decisions').values(portion.map(toRow)).execute();
      }
    },

    async deleteOfSource(source: string, networks: readonly string[]): Promise<void> {
      for (const portion of portions(networks, VALUES_A_STATEMENT)) {
        await db.deleteFrom('decisions').where('source', '=', source).where('ip', 'in', portion).execute();
      }
    },

    ofSource: (source: string): Promise<ImportedDecision[]> =>
      db.selectFrom('decisions').select(['ip', 'details', 'expires_at']).where('source', '=', source).execute(),

    /** Removes what ended; returns how many. */
    async deleteExpired(now: string): Promise<number> {
      const { numDeletedRows } = await db.deleteFrom('decisions').where('expires_at', '<=', now).executeTakeFirst();
      return Number(numDeletedRows);
    },

    async version(): Promise<number> {
      const row = await db.selectFrom('decision_versions').select('version').where('id', '=', 1).executeTakeFirst();
      return row?.version ?? 0;
    },

    /** Marks that decisions changed, in the transaction that changes them; returns the new version. */
    async raiseVersion(): Promise<number> {
      const { version } = await db
        .updateTable('decision_versions')
        .set({ version: sql<number>`version + 1` })
        .where('id', '=', 1)
        .returning('version')
        .executeTakeFirstOrThrow();
      return version;
    },
  };
};
export type DecisionStore = ReturnType<typeof decisionStore>;
