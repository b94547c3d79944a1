import type { HostUses, ListQuery } from '@sallyport/contract';
import { columnOf, type Identifier } from '@sallyport/store/database/identifier';
import { containsText, listOf, type Page, pageOf } from '@sallyport/store/database/listing';
import type { Executor } from '@sallyport/store/database/open';
import type { CertificateRow } from '@sallyport/store/database/tables';
import type { Selectable } from 'kysely';
import type { CertificateNames } from './usage.ts';

type HostUse = HostUses['used_by'][number];

const SORTABLE = ['name', 'provider', 'domains', 'expires_at', 'created_at'] as const;

/** A certificate as it is stored; `key_sealed` is the private key under the vault. */
export type StoredCertificate = Selectable<CertificateRow>;

export const certificateStore = (db: Executor) => ({
  async list(): Promise<StoredCertificate[]> {
    return db.selectFrom('certificates').selectAll().orderBy('id').execute();
  },

  async page(query: ListQuery): Promise<Page<StoredCertificate>> {
    const matching = db
      .selectFrom('certificates')
      .$if(query.search !== undefined, (rows) => rows.where(containsText(['name', 'domains'], query.search ?? '')));
    const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
    return listOf(matching.selectAll(), count, pageOf(query, SORTABLE), (row) => row);
  },

  async find(named: Identifier): Promise<StoredCertificate | undefined> {
    return db.selectFrom('certificates').selectAll().where(columnOf(named), '=', named).executeTakeFirst();
  },

  async insert(certificate: Omit<StoredCertificate, 'id'> & { id?: number }): Promise<StoredCertificate> {
    return db.insertInto('certificates').values(certificate).returningAll().executeTakeFirstOrThrow();
  },

  async delete(id: number): Promise<void> {
    await db.deleteFrom('certificates').where('id', '=', id).execute();
  },

  async findByIds(ids: readonly number[]): Promise<StoredCertificate[]> {
    return db.selectFrom('certificates').selectAll().where('id', 'in', ids).execute();
  },

  /** Names of every certificate, without their texts. */
  async names(): Promise<CertificateNames[]> {
    return db.selectFrom('certificates').select(['id', 'domains', 'expires_at']).execute();
  },

  /** Proxy hosts that name this certificate, oldest first. */
  async chosenBy(id: number): Promise<HostUse[]> {
    const hosts = db.selectFrom('proxy_hosts').select(['id', 'uuid', 'domain']).where('certificate_id', '=', id);
    return hosts.orderBy('id').execute();
  },

  /** Names of hosts that left the choice of certificate to us, among `names` or, for `*.suffix`, one label below it. */
  async namesLeftToUs(names: readonly string[]): Promise<(HostUse & { name: string })[]> {
    const wildcards = names.filter((name) => name.startsWith('*.'));
    return db
      .selectFrom('proxy_host_names as n')
      .innerJoin('proxy_hosts as h', 'h.id', 'n.proxy_host_id')
      .select(['n.name', 'h.id', 'h.uuid', 'h.domain'])
      .where('h.certificate_id', 'is', null)
      .where(({ eb, or }) =>
        or([eb('n.name', 'in', names), ...wildcards.map((wildcard) => eb('n.name', 'like', `%${wildcard.slice(1)}`))]),
      )
      .orderBy('h.id')
      .execute();
  },

  /** Replaces the sealed key, e.g. after the vault's key was changed. */
  async reseal(id: number, keySealed: string): Promise<void> {
    await db.updateTable('certificates').set({ key_sealed: keySealed }).where('id', '=', id).execute();
  },
});
export type CertificateStore = ReturnType<typeof certificateStore>;
