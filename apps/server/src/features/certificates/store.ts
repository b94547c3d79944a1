import type { Selectable } from 'kysely';
import type { Executor } from '../../db/open.ts';
import type { CertificateRow } from '../../db/tables.ts';

/** A certificate as it is stored; `key_sealed` is the private key under the vault. */
export type StoredCertificate = Selectable<CertificateRow>;

export const certificateStore = (db: Executor) => ({
  async list(): Promise<StoredCertificate[]> {
    return db.selectFrom('certificates').selectAll().orderBy('id').execute();
  },

  async find(id: number): Promise<StoredCertificate | undefined> {
    return db.selectFrom('certificates').selectAll().where('id', '=', id).executeTakeFirst();
  },

  async insert(certificate: Omit<StoredCertificate, 'id'>): Promise<StoredCertificate> {
    return db.insertInto('certificates').values(certificate).returningAll().executeTakeFirstOrThrow();
  },

  async delete(id: number): Promise<void> {
    await db.deleteFrom('certificates').where('id', '=', id).execute();
  },

  async findByIds(ids: readonly number[]): Promise<StoredCertificate[]> {
    return db.selectFrom('certificates').selectAll().where('id', 'in', ids).execute();
  },

  /** Whether a proxy host names this certificate. */
  async isChosen(id: number): Promise<boolean> {
    const host = await db
      .selectFrom('proxy_hosts')
      .select('id')
      .where('certificate_id', '=', id)
      .limit(1)
      .executeTakeFirst();
    return host !== undefined;
  },

  /** Names of hosts that left the choice of certificate to us, among `names` or, for `*.suffix`, one label below it. */
  async namesLeftToUs(names: readonly string[]): Promise<string[]> {
    const wildcards = names.filter((name) => name.startsWith('*.'));
    const rows = await db
      .selectFrom('proxy_host_names as n')
      .innerJoin('proxy_hosts as h', 'h.id', 'n.proxy_host_id')
      .select('n.name')
      .where('h.certificate_id', 'is', null)
      .where(({ eb, or }) =>
        or([eb('n.name', 'in', names), ...wildcards.map((wildcard) => eb('n.name', 'like', `%${wildcard.slice(1)}`))]),
      )
      .execute();
    return rows.map(({ name }) => name);
  },

  /** Replaces the sealed key, e.g. after the vault's key was changed. */
  async reseal(id: number, keySealed: string): Promise<void> {
    await db.updateTable('certificates').set({ key_sealed: keySealed }).where('id', '=', id).execute();
  },
});
export type CertificateStore = ReturnType<typeof certificateStore>;
