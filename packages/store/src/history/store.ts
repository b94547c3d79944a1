import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { ListQuery } from '@sallyport/contract';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { HistoryRow } from '../database/history-tables.ts';
import { containsText, listOf, type Page, pageOf } from '../database/listing.ts';
import type { Executor } from '../database/open.ts';
import { inPortions } from '../database/portions.ts';

export type StoredChange = Selectable<HistoryRow>;

/** Which changes are meant: those of one object (`proxy-hosts/<uuid>`), or of all below a path (`proxy-hosts`). */
export interface HistoryFilter extends ListQuery {
  resource?: string | undefined;
  /** Leaves out what is below these paths, which not everybody may read. */
  hidden?: readonly string[];
  /** Neither looks for names nor sorts by them, which not everybody may read either. */
  isNameless?: boolean;
}

/** Tables whose rows have an integer id and a uuid. */
export type NamedTable =
  | 'proxy_hosts'
  | 'remote_servers'
  | 'certificates'
  | 'dns_providers'
  | 'access_lists'
  | 'decisions'
  | 'rulesets';

/** What people call these rows. */
const CALLED_BY = {
  proxy_hosts: 'domain',
  remote_servers: 'name',
  certificates: 'name',
  dns_providers: 'name',
  access_lists: 'name',
  decisions: 'ip',
  rulesets: 'name',
} as const satisfies Record<NamedTable, string>;

const NAMELESS_SORTABLE = { created_at: 'id', resource: 'resource', action: 'action' };
const SORTABLE = { ...NAMELESS_SORTABLE, actor: 'actor' };
const CHANGES_AN_ANSWER = 100;
/** A change that takes more is read by itself: a page of rule sets could take all memory at once. */
const LARGE_BYTES = 65_536;
/** Of both databases' integers. */
const MAX_ID = 2_147_483_647;
const SIZES_A_QUERY = 10_000;
/** A condition: the object is below a path, as it is written. LIKE would take other cases along in SQLite, and `_` for any character. */
const isBelow = (path: string) => {
  const beginning = `${path}/`;
  return sql<boolean>`substr(${sql.ref('resource')}, 1, ${sql.lit([...beginning].length)}) = ${beginning}`;
};

export const historyStore = (db: Executor) => ({
  /** Adds changes, at most some hundred. */
  async insert(changes: readonly Insertable<HistoryRow>[]): Promise<void> {
    if (changes.length > 0) await db.insertInto('history').values(changes).execute();
  },

  /** Newest first; each as `show` makes of it, so that never many large ones are held. */
  async list<T>(
    { resource, hidden = [], isNameless = false, ...query }: HistoryFilter,
    show: (change: StoredChange) => T,
  ): Promise<Page<T>> {
    const path = resource ?? '';
    const searched = isNameless ? ['resource', 'action'] : ['resource', 'action', 'actor'];
    const matching = db
      .selectFrom('history')
      .$if(path !== '', (rows) => rows.where(({ eb, or }) => or([eb('resource', '=', path), isBelow(path)])))
      .where(({ and, not }) => and(hidden.map((path) => not(isBelow(path)))))
      .$if(query.search !== undefined, (rows) => rows.where(containsText(searched, query.search ?? '')));
    const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
    const request = pageOf(query, isNameless ? NAMELESS_SORTABLE : SORTABLE, {
      perPage: CHANGES_AN_ANSWER,
      order: 'desc',
    });
    const text = (column: 'before_state' | 'after_state') =>
      sql<string | null>`case when bytes <= ${sql.lit(LARGE_BYTES)} then ${sql.ref(column)} end`.as(column);
    const small = matching
      .select(['id', 'batch', 'resource', 'action', 'actor', 'created_at', 'reverts', 'bytes'])
      .select([text('before_state'), text('after_state')])
      // Nobody is shown those.
      .select(sql<string | null>`null`.as('secrets_sealed'));
    const page = await listOf(small, count, request, (row) => row);
    const rows: T[] = [];
    for (const row of page.rows) {
      if (row.bytes <= LARGE_BYTES) {
        rows.push(show(row));
        continue;
      }
      rows.push(show((await this.find(row.id)) ?? row));
      // A store in this process answers at once: nobody else would get a turn until all are read.
      await yieldToOthers();
    }
    return { ...page, rows };
  },

  async has(resource: string): Promise<boolean> {
    const query = db.selectFrom('history').select('id').where('resource', '=', resource).limit(1);
    return (await query.executeTakeFirst()) !== undefined;
  },

  /** The uuid of a row, which names it in the history. */
  async uuidOf(table: NamedTable, id: number): Promise<string | undefined> {
    return (await db.selectFrom(table).select('uuid').where('id', '=', id).executeTakeFirst())?.uuid;
  },

  /** What rows are called, by uuid; without those that are gone. */
  async namesOf(table: NamedTable, uuids: readonly string[]): Promise<Map<string, string>> {
    const names = new Map<string, string>();
    for await (const portion of inPortions(uuids, CHANGES_AN_ANSWER)) {
      const rows = await db
        .selectFrom(table)
        .select(['uuid', sql<string>`${sql.ref(CALLED_BY[table])}`.as('name')])
        .where('uuid', 'in', portion)
        .execute();
      for (const { uuid, name } of rows) names.set(uuid, name);
    }
    return names;
  },

  /** How many changes are of each batch. */
  async sizesOf(batches: readonly string[]): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for await (const portion of inPortions(batches, CHANGES_AN_ANSWER)) {
      const rows = await db
        .selectFrom('history')
        .select(['batch', ({ fn }) => fn.countAll<number>().as('size')])
        .where('batch', 'in', portion)
        .groupBy('batch')
        .execute();
      for (const { batch, size } of rows) sizes.set(batch, Number(size));
    }
    return sizes;
  },

  async find(id: number): Promise<StoredChange | undefined> {
    return db.selectFrom('history').selectAll().where('id', '=', id).executeTakeFirst();
  },

  /** All changes of a batch, newest first. */
  async ofBatch(batch: string): Promise<StoredChange[]> {
    return db.selectFrom('history').selectAll().where('batch', '=', batch).orderBy('id', 'desc').execute();
  },

  /** Changes of an object after another one, newest first. */
  async after(resource: string, id: number): Promise<StoredChange[]> {
    const later = db.selectFrom('history').selectAll().where('resource', '=', resource).where('id', '>', id);
    return later.orderBy('id', 'desc').execute();
  },

  /** The newest change that is older than `moment`. */
  async lastBefore(moment: string): Promise<number | undefined> {
    const old = db.selectFrom('history').select('id').where('created_at', '<', moment);
    return (await old.orderBy('id', 'desc').limit(1).executeTakeFirst())?.id;
  },

  /** Sizes of all changes, newest first, in portions. */
  async *sizes(): AsyncGenerator<{ id: number; bytes: number }[]> {
    for (let before = MAX_ID; ; ) {
      const rows = await db
        .selectFrom('history')
        .select(['id', 'bytes'])
        .where('id', '<=', before)
        .orderBy('id', 'desc')
        .limit(SIZES_A_QUERY)
        .execute();
      if (rows.length === 0) return;
      before = (rows.at(-1)?.id ?? 0) - 1;
      yield rows;
    }
  },

  /** Removes the oldest changes up to one, at most so many; returns how many there were. */
  async deleteUpTo(id: number, atMost: number): Promise<number> {
    const oldest = db.selectFrom('history').select('id').where('id', '<=', id).orderBy('id').limit(atMost);
    const { numDeletedRows } = await db.deleteFrom('history').where('id', 'in', oldest).executeTakeFirst();
    return Number(numDeletedRows);
  },
});
export type HistoryStore = ReturnType<typeof historyStore>;
