import type { DnsProviderInUse, ListQuery } from '@sallyport/contract';
import type { DnsProviderRow } from '@sallyport/store/database/acme-tables';
import { columnOf, type Identifier } from '@sallyport/store/database/identifier';
import { containsText, listOf, type Page, pageOf } from '@sallyport/store/database/listing';
import type { Executor } from '@sallyport/store/database/open';
import type { Insertable, Selectable, Updateable } from 'kysely';

const SORTABLE = ['name', 'type', 'created_at', 'updated_at'] as const;
/** How many certificates that use one are named; the rest is only counted. */
const MAX_NAMED = 100;

/** A DNS provider as it is stored; `secrets_sealed` are its secret fields under the vault. */
export type StoredDnsProvider = Selectable<DnsProviderRow>;

export const dnsProviderStore = (db: Executor) => ({
  async list(query: ListQuery): Promise<Page<StoredDnsProvider>> {
    const matching = db
      .selectFrom('dns_providers')
      .$if(query.search !== undefined, (rows) => rows.where(containsText(['name', 'type'], query.search ?? '')));
    const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
    return listOf(matching.selectAll(), count, pageOf(query, SORTABLE), (row) => row);
  },

  find: (named: Identifier): Promise<StoredDnsProvider | undefined> =>
    db.selectFrom('dns_providers').selectAll().where(columnOf(named), '=', named).executeTakeFirst(),

  named: (name: string): Promise<StoredDnsProvider | undefined> =>
    db.selectFrom('dns_providers').selectAll().where('name', '=', name).executeTakeFirst(),

  insert: (provider: Insertable<DnsProviderRow>): Promise<StoredDnsProvider> =>
    db.insertInto('dns_providers').values(provider).returningAll().executeTakeFirstOrThrow(),

  update: (id: number, patch: Updateable<DnsProviderRow>): Promise<StoredDnsProvider> =>
    db.updateTable('dns_providers').set(patch).where('id', '=', id).returningAll().executeTakeFirstOrThrow(),

  async delete(id: number): Promise<void> {
    await db.deleteFrom('dns_providers').where('id', '=', id).execute();
  },

  /** The certificates whose records it writes, oldest first. */
  async uses(id: number): Promise<Pick<DnsProviderInUse, 'used_by' | 'used_by_total'>> {
    const users = db
      .selectFrom('certificate_orders as o')
      .innerJoin('certificates as c', 'c.id', 'o.certificate_id')
      .where('o.dns_provider_id', '=', id);
    const used_by = await users.select(['c.id', 'c.uuid', 'c.name']).orderBy('c.id').limit(MAX_NAMED).execute();
    if (used_by.length < MAX_NAMED) return { used_by, used_by_total: used_by.length };
    const { total } = await users.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
    return { used_by, used_by_total: Number(total) };
  },
});
export type DnsProviderStore = ReturnType<typeof dnsProviderStore>;
