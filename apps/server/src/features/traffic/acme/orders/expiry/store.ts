import type { Executor } from '@sallyport/store/database/open';

/** A certificate whose end comes near. */
export interface Expiring {
  id: number;
  uuid: string;
  name: string;
  domains: string;
  not_before: string;
  expires_at: string;
  expiry_told: string | null;
  /** Why it was not renewed; null when nobody tried. */
  issue: string | null;
  /** When that is tried next; null: not by itself. */
  next_attempt_at: string | null;
}

export const expiryStore = (db: Executor) => ({
  /** Certificates that expire before then, without those that were had for hosts that are gone. */
  async before(time: string): Promise<Expiring[]> {
    return db
      .selectFrom('certificates as c')
      .leftJoin('certificate_orders as o', 'o.certificate_id', 'c.id')
      .select(['c.id', 'c.uuid', 'c.name', 'c.domains', 'c.not_before', 'c.expires_at', 'c.expiry_told'])
      .select(['o.issue', 'o.next_attempt_at'])
      .where('c.is_placeholder', '=', 0)
      .where('c.expires_at', '<', time)
      .where(({ eb, or }) =>
        or([eb('o.is_auto', 'is', null), eb('o.is_auto', '=', 0), eb('o.next_attempt_at', 'is not', null)]),
      )
      .orderBy('c.expires_at')
      .execute();
  },

  /** Notes that a warning is told; false when another node has told it. */
  async note({ id, expiry_told }: Expiring, told: string): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('certificates')
      .set({ expiry_told: told })
      .where('id', '=', id)
      .where('expiry_told', expiry_told === null ? 'is' : '=', expiry_told)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  },

  /** When certificates expire, the first ones first. */
  async soonest(limit: number): Promise<{ id: number; name: string; expires_at: string }[]> {
    return db
      .selectFrom('certificates')
      .select(['id', 'name', 'expires_at'])
      .where('is_placeholder', '=', 0)
      .orderBy('expires_at')
      .limit(limit)
      .execute();
  },
});
export type ExpiryStore = ReturnType<typeof expiryStore>;
