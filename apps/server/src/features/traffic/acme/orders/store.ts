import type { CertificateOrderRow } from '@sallyport/store/database/acme-tables';
import type { Executor } from '@sallyport/store/database/open';
import type { CertificateRow } from '@sallyport/store/database/tables';
import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from 'kysely';

export type StoredOrder = Selectable<CertificateOrderRow>;
export type NewOrderRow = Insertable<CertificateOrderRow>;

/** What is there of the certificate that an order is about. */
type Subject = Pick<
  Selectable<CertificateRow>,
  'uuid' | 'name' | 'chain_pem' | 'is_placeholder' | 'not_before' | 'expires_at' | 'domains'
>;

/** An order with its certificate. */
export type OrderWithSubject = StoredOrder & Subject;

type Changes = Updateable<CertificateOrderRow>;
/** Fields to be stored, or what the database makes of them. */
type Fields = { [Name in keyof Changes]: Changes[Name] | RawBuilder<Changes[Name]> };

/** Now, and what lies so far ahead of it that a wrong clock has written it. */
export interface Moments {
  now: string;
  latest: string;
  ahead: string;
}

const NOBODY = { leased_by: '', leased_until: '' } as const;

/** `next`, unless somebody has asked for another time than what was `seen`: that stays. */
export const unlessAsked = (seen: string | null, next: string | null): RawBuilder<string | null> =>
  sql<string | null>`case when coalesce(next_attempt_at, '') <> ${seen ?? ''} then next_attempt_at else ${next} end`;

export const orderStore = (db: Executor) => ({
  async find(certificateId: number): Promise<OrderWithSubject | undefined> {
    return db
      .selectFrom('certificate_orders as o')
      .innerJoin('certificates as c', 'c.id', 'o.certificate_id')
      .selectAll('o')
      .select(['c.uuid', 'c.name', 'c.chain_pem', 'c.is_placeholder', 'c.not_before', 'c.expires_at', 'c.domains'])
      .where('o.certificate_id', '=', certificateId)
      .executeTakeFirst();
  },

  async insert(orders: readonly NewOrderRow[]): Promise<void> {
    await db.insertInto('certificate_orders').values(orders).execute();
  },

  /** Changes what nobody has to hold: what is asked for. Returns whether there is such an order. */
  async change(certificateId: number, fields: Changes): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('certificate_orders')
      .set(fields)
      .where('certificate_id', '=', certificateId)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  },

  /**
   * Orders that are due and that nobody works at, those that wait longest first; but before all renewals, which have a third of a
   * lifetime, what somebody waits for: certificates that are not there yet. `latest`: leases beyond it are none;
   * `ahead`: what was tried after it was tried by a clock that ran ahead, whose times are none either.
   */
  async due({ now, latest, ahead }: Moments, limit: number): Promise<number[]> {
    const rows = await db
      .selectFrom('certificate_orders')
      .innerJoin('certificates', 'certificates.id', 'certificate_orders.certificate_id')
      .select('certificate_id')
      .where(({ eb, or, and }) =>
        or([
          eb('next_attempt_at', '<=', now),
          and([eb('last_attempt_at', '>', ahead), eb('next_attempt_at', 'is not', null)]),
        ]),
      )
      // A clock that ran ahead must not have leased it for years.
      .where(({ eb, or }) => or([eb('leased_until', '<=', now), eb('leased_until', '>', latest)]))
      .orderBy('is_placeholder', 'desc')
      .orderBy('next_attempt_at')
      .orderBy('certificate_id')
      .limit(limit)
      .execute();
    return rows.map(({ certificate_id }) => certificate_id);
  },

  /** Certificates whose authority is to be asked when it wants them renewed, and that nobody works at. */
  async unchecked({ now, latest }: Omit<Moments, 'ahead'>, limit: number): Promise<number[]> {
    const rows = await db
      .selectFrom('certificate_orders')
      .select('certificate_id')
      .where('ari_checked_until', '<=', now)
      .where(({ eb, or }) => or([eb('leased_until', '<=', now), eb('leased_until', '>', latest)]))
      .orderBy('ari_checked_until')
      .orderBy('certificate_id')
      .limit(limit)
      .execute();
    return rows.map(({ certificate_id }) => certificate_id);
  },

  /** Keeps others from asking the authority about it until then; false when somebody asks already. */
  async beginCheck(
    { certificate_id, ari_checked_until }: Pick<StoredOrder, 'certificate_id' | 'ari_checked_until'>,
    until: string,
  ): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('certificate_orders')
      .set({ ari_checked_until: until })
      .where('certificate_id', '=', certificate_id)
      .where('ari_checked_until', '=', ari_checked_until)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  },

  /**
   * Stores what the authority said about a certificate, unless that is of yesterday: it was renewed, is being renewed or somebody
   * has asked for it meanwhile. `row`: what was asked about; `until`: what `beginCheck` stored.
   */
  async endCheck(
    { certificate_id, leased_by, last_attempt_at: tried, next_attempt_at: next }: StoredOrder,
    until: string,
    fields: Changes,
  ): Promise<void> {
    await db
      .updateTable('certificate_orders')
      .set(fields)
      .where('certificate_id', '=', certificate_id)
      .where('ari_checked_until', '=', until)
      // Who was killed over it is still named.
      .where('leased_by', '=', leased_by)
      .where(sql<string>`coalesce(last_attempt_at, '')`, '=', tried ?? '')
      .where(sql<string>`coalesce(next_attempt_at, '')`, '=', next ?? '')
      .execute();
  },

  /** Takes an order for `claim` until `until`, unless somebody has it. */
  async claim(id: number, claim: string, times: { now: string; latest: string; until: string }): Promise<boolean> {
    const { now, latest, until } = times;
    const { numUpdatedRows } = await db
      .updateTable('certificate_orders')
      .set({ leased_by: claim, leased_until: until })
      .where('certificate_id', '=', id)
      .where(({ eb, or }) => or([eb('leased_until', '<=', now), eb('leased_until', '>', latest)]))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  },

  /** Stores fields of an order that `claim` holds; false when it does not any more. */
  async save(id: number, claim: string, fields: Fields): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('certificate_orders')
      .set(fields)
      .where('certificate_id', '=', id)
      .where('leased_by', '=', claim)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  },

  /**
   * Gives an order back, with what came of it. `row` is what was worked at: when somebody has asked for another time since, or for other
   * names, that time stays.
   */
  async release(
    { certificate_id, next_attempt_at: seen }: Pick<StoredOrder, 'certificate_id' | 'next_attempt_at'>,
    claim: string,
    { next_attempt_at: next, ...fields }: Changes,
  ): Promise<boolean> {
    const time = next === undefined ? {} : { next_attempt_at: unlessAsked(seen, next) };
    return this.save(certificate_id, claim, { ...fields, ...time, ...NOBODY });
  },

  /** What the internal authority has signed, and is kept, is due. */
  async renewInternal(now: string): Promise<void> {
    await db
      .updateTable('certificate_orders')
      .set({ next_attempt_at: now, updated_at: now })
      .where('issuer', '=', 'internal')
      .where('next_attempt_at', 'is not', null)
      .execute();
  },

  /** For a store of one process, which has just begun: nobody works at anything. */
  async releaseAll(): Promise<void> {
    await db.updateTable('certificate_orders').set(NOBODY).where('leased_by', '!=', '').execute();
  },
});
export type OrderStore = ReturnType<typeof orderStore>;
