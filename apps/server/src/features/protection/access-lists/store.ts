import type { AccessList, AccessListFields, HostUses, ListQuery } from '@sallyport/contract';
import { toFlag } from '@sallyport/store/database/flags';
import { hostUses } from '@sallyport/store/database/host-uses';
import { columnOf, type Identifier } from '@sallyport/store/database/identifier';
import { containsText, listOf, type Page, pageOf } from '@sallyport/store/database/listing';
import type { Executor } from '@sallyport/store/database/open';
import type { AccessListRow } from '@sallyport/store/database/security-tables';
import type { Selectable } from 'kysely';

/** An access list as it is stored. */
export type StoredAccessList = Omit<AccessList, 'warnings'>;

/** SQLite binds at most 32,766 values a statement. */
const IDS_A_QUERY = 10_000;

const SORTABLE = ['name', 'type', 'enabled', 'created_at', 'updated_at'] as const;

const fromRow = (row: Selectable<AccessListRow>): StoredAccessList => ({
  ...row,
  type: row.type as AccessList['type'],
  rules: JSON.parse(row.rules) as AccessList['rules'],
  countries: JSON.parse(row.countries) as string[],
  local_network_only: row.local_network_only === 1,
  enabled: row.enabled === 1,
});

const toRow = (list: AccessListFields & { updated_at: string }) => ({
  ...list,
  rules: JSON.stringify(list.rules),
  countries: JSON.stringify(list.countries),
  local_network_only: toFlag(list.local_network_only),
  enabled: toFlag(list.enabled),
});

export const accessListStore = (db: Executor) => ({
  async list(query: ListQuery): Promise<Page<StoredAccessList>> {
    const matching = db
      .selectFrom('access_lists')
      .$if(query.search !== undefined, (rows) => rows.where(containsText(['name', 'description'], query.search ?? '')));
    const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
    return listOf(matching.selectAll(), count, pageOf(query, SORTABLE), fromRow);
  },

  async all(): Promise<StoredAccessList[]> {
    return (await db.selectFrom('access_lists').selectAll().orderBy('id').execute()).map(fromRow);
  },

  async find(named: Identifier): Promise<StoredAccessList | undefined> {
    const row = await db.selectFrom('access_lists').selectAll().where(columnOf(named), '=', named).executeTakeFirst();
    return row && fromRow(row);
  },

  async findByName(name: string): Promise<StoredAccessList | undefined> {
    const row = await db.selectFrom('access_lists').selectAll().where('name', '=', name).executeTakeFirst();
    return row && fromRow(row);
  },

  async isNameTaken(name: string, exceptId: number): Promise<boolean> {
    const query = db.selectFrom('access_lists').select('id').where('name', '=', name).where('id', '!=', exceptId);
    return (await query.executeTakeFirst()) !== undefined;
  },

  async insert(list: Omit<StoredAccessList, 'id'> & { id?: number }): Promise<StoredAccessList> {
    const { uuid, created_at, ...fields } = list;
    const values = { ...toRow(fields), uuid, created_at };
    return fromRow(await db.insertInto('access_lists').values(values).returningAll().executeTakeFirstOrThrow());
  },

  async update(id: number, list: AccessListFields & { updated_at: string }): Promise<StoredAccessList> {
    const { name, description, type, rules, countries, local_network_only, enabled, updated_at } = toRow(list);
    const values = { name, description, type, rules, countries, local_network_only, enabled, updated_at };
    const query = db.updateTable('access_lists').set(values).where('id', '=', id).returningAll();
    return fromRow(await query.executeTakeFirstOrThrow());
  },

  async delete(id: number): Promise<void> {
    await db.deleteFrom('access_lists').where('id', '=', id).execute();
  },

  /** Which of these lists guard a host. */
  async used(ids: readonly number[]): Promise<Set<number>> {
    const used = new Set<number>();
    for (let from = 0; from < ids.length; from += IDS_A_QUERY) {
      const portion = ids.slice(from, from + IDS_A_QUERY);
      const users = db.selectFrom('proxy_hosts').select('access_list_id').distinct();
      for (const { access_list_id: id } of await users.where('access_list_id', 'in', portion).execute()) {
        if (id !== null) used.add(id);
      }
    }
    return used;
  },

  uses: (id: number): Promise<HostUses> => hostUses(db, 'access_list_id', id),
});
export type AccessListStore = ReturnType<typeof accessListStore>;
