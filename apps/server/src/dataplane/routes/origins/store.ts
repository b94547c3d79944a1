import type { Executor } from '@sallyport/store/database/open';

/** Last good addresses of origin names, kept so that a restart while DNS is down changes nothing. */
export const originAddressStore = (db: Executor) => ({
  async all(): Promise<Map<string, string>> {
    const rows = await db.selectFrom('origin_addresses').select(['name', 'address']).execute();
    return new Map(rows.map(({ name, address }) => [name, address]));
  },

  async save(name: string, address: string, resolvedAt: Date): Promise<void> {
    const resolved_at = resolvedAt.toISOString();
    await db
      .insertInto('origin_addresses')
      .values({ name, address, resolved_at })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ address, resolved_at }))
      .execute();
  },
});
export type OriginAddressStore = ReturnType<typeof originAddressStore>;
