import type { RevocationReason } from '@sallyport/contract';
import type { Actor } from '@sallyport/store/actor';
import type { RevocationRow } from '@sallyport/store/database/acme-tables';
import type { Executor } from '@sallyport/store/database/open';
import type { StoredCertificate } from '../../certificates/store.ts';

/** What is told of a certificate that is to be revoked, also when it is not there any more. */
export type Subject = Pick<StoredCertificate, 'id' | 'uuid' | 'name' | 'provider' | 'domains' | 'expires_at'>;

/** A revocation that an authority was, or is to be, asked for. */
export interface Asked extends Omit<RevocationRow, 'certificate' | 'asked_by' | 'reason'> {
  certificate: Subject;
  reason: RevocationReason;
  asked_by: Actor;
}

/** Now, until when it is asked for by one process alone, and beyond which a lease is none: a clock ran ahead. */
export interface Lease {
  now: string;
  until: string;
  latest: string;
}

const toRow = ({ certificate, asked_by, ...rest }: Asked): RevocationRow => ({
  ...rest,
  certificate: JSON.stringify(certificate),
  asked_by: JSON.stringify(asked_by),
});

const toAsked = ({ certificate, asked_by, reason, ...rest }: RevocationRow): Asked => ({
  ...rest,
  reason: reason as RevocationReason,
  certificate: JSON.parse(certificate) as Subject,
  asked_by: JSON.parse(asked_by) as Actor,
});

export const revocationStore = (db: Executor) => {
  const claim = async (fingerprint: string, { now, until, latest }: Lease, fields: Partial<RevocationRow> = {}) => {
    const { numUpdatedRows } = await db
      .updateTable('revocations')
      .set({ ...fields, leased_until: until })
      .where('fingerprint', '=', fingerprint)
      .where(({ eb, or }) => or([eb('leased_until', '<=', now), eb('leased_until', '>', latest)]))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  };

  return {
    /** Notes what is to be asked for, leased; false while another one asks for the same. */
    async begin(asked: Asked, lease: Lease): Promise<boolean> {
      const row = { ...toRow(asked), leased_until: lease.until };
      const { numInsertedOrUpdatedRows: inserted } = await db
        .insertInto('revocations')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return (inserted ?? 0n) > 0n || claim(asked.fingerprint, lease, row);
    },

    /** Those whose time has come. */
    async due({ now, latest }: Lease): Promise<Asked[]> {
      const rows = await db
        .selectFrom('revocations')
        .selectAll()
        .where('next_attempt_at', '<=', now)
        .where(({ eb, or }) => or([eb('leased_until', '<=', now), eb('leased_until', '>', latest)]))
        .orderBy('next_attempt_at')
        .execute();
      return rows.map(toAsked);
    },

    claim,

    /** Gives one back, to be asked for again at `next_attempt_at`. */
    async release(fingerprint: string, fields: Pick<RevocationRow, 'failures' | 'next_attempt_at'>): Promise<void> {
      await db
        .updateTable('revocations')
        .set({ ...fields, leased_until: '' })
        .where('fingerprint', '=', fingerprint)
        .execute();
    },

    /** It is known what came of it; false when somebody else has noted that. */
    async end(fingerprint: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('revocations')
        .where('fingerprint', '=', fingerprint)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    /** For a store of one process, which has just begun: nobody asks for anything. */
    async releaseAll(): Promise<void> {
      await db.updateTable('revocations').set({ leased_until: '' }).execute();
    },
  };
};
export type RevocationStore = ReturnType<typeof revocationStore>;
