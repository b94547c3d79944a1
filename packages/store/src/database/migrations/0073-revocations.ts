import { X509Certificate } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../tables.ts';

/** Undefined for what is damaged, which can be brought by nobody again and must not keep the store from being brought up to date. */
const fingerprintOf = (chainPem: string): string | undefined => {
  try {
    return new X509Certificate(chainPem).fingerprint256;
  } catch {
    return undefined;
  }
};

/** Which certificates are revoked, whoever brings them again; and which ones an authority was asked to revoke, until its answer is noted. */
export const up = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema
    .createTable('revoked_certificates')
    .addColumn('fingerprint', 'text', (column) => column.primaryKey())
    .addColumn('revoked_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('revocations')
    .addColumn('fingerprint', 'text', (column) => column.primaryKey())
    .addColumn('certificate', 'text', (column) => column.notNull())
    .addColumn('chain_pem', 'text', (column) => column.notNull())
    .addColumn('account_id', 'integer', (column) => column.notNull())
    .addColumn('reason', 'text', (column) => column.notNull())
    .addColumn('asked_by', 'text', (column) => column.notNull())
    .addColumn('asked_at', 'text', (column) => column.notNull())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('next_attempt_at', 'text', (column) => column.notNull())
    .addColumn('leased_until', 'text', (column) => column.notNull())
    .execute();
  const revoked = await db
    .selectFrom('certificates')
    .select(['chain_pem', 'expires_at', 'revoked_at'])
    .where('revoked_at', 'is not', null)
    .execute();
  for (const { chain_pem, expires_at, revoked_at } of revoked) {
    if (revoked_at === null) continue;
    const fingerprint = fingerprintOf(chain_pem);
    if (fingerprint === undefined) continue;
    await db
      .insertInto('revoked_certificates')
      .values({ fingerprint, revoked_at, expires_at })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
};
