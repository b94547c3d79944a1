import { X509Certificate } from 'node:crypto';
import type { Executor } from './database/open.ts';

/** By what a certificate is known as revoked, wherever it comes from: of a chain, PEM, its leaf's SHA-256. */
export const fingerprintOf = (chainPem: string): string => new X509Certificate(chainPem).fingerprint256;

/** When the certificate of a chain was revoked; null: it was not, as far as is known here. */
export const revokedAtOf = async (db: Executor, chainPem: string): Promise<string | null> => {
  const query = db.selectFrom('revoked_certificates').select('revoked_at');
  const row = await query.where('fingerprint', '=', fingerprintOf(chainPem)).executeTakeFirst();
  return row?.revoked_at ?? null;
};

/** Marks the certificates that are there and known as revoked. Returns the ids of those that were not marked before. */
export const markRevoked = async (tx: Executor): Promise<number[]> => {
  const alike = await tx
    .selectFrom('certificates as c')
    // One and the same certificate ends at one moment: few others have to be read.
    .innerJoin('revoked_certificates as r', 'r.expires_at', 'c.expires_at')
    .select(['c.id', 'c.chain_pem', 'r.fingerprint', 'r.revoked_at'])
    .where('c.revoked_at', 'is', null)
    .where('c.is_placeholder', '=', 0)
    .execute();
  const found = alike.filter(({ chain_pem, fingerprint }) => fingerprintOf(chain_pem) === fingerprint);
  for (const { id, revoked_at } of found) {
    await tx.updateTable('certificates').set({ revoked_at }).where('id', '=', id).execute();
  }
  return found.map(({ id }) => id);
};

/**
 * Remembers that the certificate of a chain was revoked, until it would have ended by itself, and marks all that are there of it. Returns their ids.
 */
export const rememberRevoked = async (tx: Executor, chainPem: string, at: string): Promise<number[]> => {
  const { fingerprint256: fingerprint, validToDate } = new X509Certificate(chainPem);
  await tx.deleteFrom('revoked_certificates').where('expires_at', '<', at).execute();
  await tx
    .insertInto('revoked_certificates')
    .values({ fingerprint, revoked_at: at, expires_at: validToDate.toISOString() })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return markRevoked(tx);
};

/**
 * Lets what comes back know of all that `current` has heard of since: what was revoked stays so, and what is kept of it by an order is had anew.
 */
export const carryRevoked = async (staged: Executor, current: Executor, now: string): Promise<void> => {
  for (const row of await current.selectFrom('revoked_certificates').selectAll().execute()) {
    const known = staged.insertInto('revoked_certificates').values(row);
    await known.onConflict((conflict) => conflict.doNothing()).execute();
  }
  const ids = await markRevoked(staged);
  if (ids.length === 0) return;
  await staged
    .updateTable('certificate_orders')
    .set({ next_attempt_at: now })
    .where('certificate_id', 'in', ids)
    .where('next_attempt_at', 'is not', null)
    .execute();
};
