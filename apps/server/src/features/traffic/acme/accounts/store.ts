import type { AcmeAccount, CertificateUses, ListQuery } from '@sallyport/contract';
import type { AcmeAccountRow } from '@sallyport/store/database/acme-tables';
import { columnOf, type Identifier } from '@sallyport/store/database/identifier';
import { containsText, listOf, type Page, pageOf } from '@sallyport/store/database/listing';
import type { Executor } from '@sallyport/store/database/open';
import type { Selectable } from 'kysely';

const SORTABLE = ['name', 'directory_url', 'email', 'created_at', 'updated_at'] as const;
/** How many users of an account are named; the rest is only counted. */
const MAX_NAMED = 100;

/** An account as it is stored; its key is sealed. */
export type StoredAccount = Selectable<AcmeAccountRow>;

export const accountStore = (db: Executor) => ({
  async page(query: ListQuery): Promise<Page<StoredAccount>> {
    const matching = db
      .selectFrom('acme_accounts')
      .$if(query.search !== undefined, (rows) =>
        rows.where(containsText(['name', 'directory_url', 'email'], query.search ?? '')),
      );
    const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
    return listOf(matching.selectAll(), count, pageOf(query, SORTABLE), (row) => row);
  },

  async find(named: Identifier): Promise<StoredAccount | undefined> {
    return db.selectFrom('acme_accounts').selectAll().where(columnOf(named), '=', named).executeTakeFirst();
  },

  async findByName(name: string): Promise<StoredAccount | undefined> {
    return db.selectFrom('acme_accounts').selectAll().where('name', '=', name).executeTakeFirst();
  },

  /** The account, when there is but one. */
  async only(): Promise<StoredAccount | undefined> {
    const [first, ...others] = await db.selectFrom('acme_accounts').selectAll().orderBy('id').limit(2).execute();
    return others.length === 0 ? first : undefined;
  },

  async names(): Promise<string[]> {
    return (await db.selectFrom('acme_accounts').select('name').orderBy('id').limit(10).execute()).map(
      ({ name }) => name,
    );
  },

  async insert(account: Omit<StoredAccount, 'id'>): Promise<StoredAccount> {
    return db.insertInto('acme_accounts').values(account).returningAll().executeTakeFirstOrThrow();
  },

  async update(
    id: number,
    fields: Partial<Pick<AcmeAccount, 'name' | 'ca_certificate' | 'updated_at'>>,
  ): Promise<StoredAccount> {
    return db.updateTable('acme_accounts').set(fields).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
  },

  async delete(id: number): Promise<void> {
    await db.deleteFrom('acme_accounts').where('id', '=', id).execute();
  },

  /** Certificates that are kept with it. */
  async uses(id: number): Promise<CertificateUses> {
    const users = db
      .selectFrom('certificate_orders as o')
      .innerJoin('certificates as c', 'c.id', 'o.certificate_id')
      .where('o.account_id', '=', id);
    const used_by = await users.select(['c.id', 'c.uuid', 'c.name']).orderBy('c.id').limit(MAX_NAMED).execute();
    if (used_by.length < MAX_NAMED) return { used_by, used_by_total: used_by.length };
    const { total } = await users.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
    return { used_by, used_by_total: Number(total) };
  },
});
export type AccountStore = ReturnType<typeof accountStore>;
