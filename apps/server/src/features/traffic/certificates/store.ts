import type { CertificateQuery, HostUses } from '@sallyport/contract';
import type { CertificateOrderRow } from '@sallyport/store/database/acme-tables';
import { columnOf, type Identifier } from '@sallyport/store/database/identifier';
import { containsText, listOf, type Page, pageOf } from '@sallyport/store/database/listing';
import type { Executor } from '@sallyport/store/database/open';
import { inPortions } from '@sallyport/store/database/portions';
import type { CertificateRow, Tables } from '@sallyport/store/database/tables';
import { revokedAtOf } from '@sallyport/store/revoked-certificates';
import type { ExpressionBuilder, Selectable } from 'kysely';
import { type CertificateNames, endOf } from './usage.ts';

type HostUse = HostUses['used_by'][number];

const SORTABLE = {
  ...{ name: 'name', provider: 'provider', domains: 'domains', expires_at: 'expires_at', created_at: 'created_at' },
  // Those that are there first.
  status: 'is_placeholder',
} as const;

/** Whose order has not failed so far; without an order nothing is to come any more. */
const isPending = ({ exists, selectFrom }: ExpressionBuilder<Tables, 'certificates'>) =>
  exists(
    selectFrom('certificate_orders')
      .select('certificate_id')
      .where('issue', 'is', null)
      .whereRef('certificate_id', '=', 'certificates.id'),
  );

/** With more names, or wildcards, it is less work to read all names of hosts once than to look for each. */
const MAX_LOOKED_FOR = 1_000;
const MAX_WILDCARDS = 20;

/** A certificate as it is stored; `key_sealed` is the private key under the vault. */
export type StoredCertificate = Omit<Selectable<CertificateRow>, 'expiry_told'>;

/** One that is to be stored. */
export type NewCertificate = Omit<StoredCertificate, 'id' | 'revoked_at'> & { id?: number };

/** What is stored of the keeping of a certificate, with the names of what it refers to. */
export interface StoredKeeping {
  certificate_id: number;
  issuer: string;
  account_id: number | null;
  account: string | null;
  dns_provider_id: number | null;
  dns_provider: string | null;
  challenge: string | null;
  key_type: string;
  is_auto: number;
  steps: string;
  issue: string | null;
  problem: string | null;
  last_attempt_at: string | null;
  next_attempt_at: string | null;
  renew_after: string | null;
  /** When its authority was asked to revoke it, while nobody knows what it answered. */
  revocation_asked_at: string | null;
}

/** Whether what is to be stored was revoked, wherever it comes from. What stands in for one is known to nobody. */
const revocationOf = async (
  db: Executor,
  { chain_pem, is_placeholder }: Pick<StoredCertificate, 'chain_pem' | 'is_placeholder'>,
) => ({ revoked_at: is_placeholder === 1 ? null : await revokedAtOf(db, chain_pem) });

export const certificateStore = (db: Executor) => ({
  async list(): Promise<StoredCertificate[]> {
    return db.selectFrom('certificates').selectAll().orderBy('id').execute();
  },

  async page(query: CertificateQuery): Promise<Page<StoredCertificate>> {
    const { search, status, provider, expires_before } = query;
    const matching = db
      .selectFrom('certificates')
      .$if(search !== undefined, (rows) => rows.where(containsText(['name', 'domains'], search ?? '')))
      .$if(provider !== undefined, (rows) => rows.where('provider', '=', provider ?? ''))
      .$if(status === 'revoked', (rows) => rows.where('revoked_at', 'is not', null))
      .$if(status !== undefined && status !== 'revoked', (rows) =>
        rows.where('is_placeholder', '=', status === 'valid' ? 0 : 1).where('revoked_at', 'is', null),
      )
      .$if(status === 'pending', (rows) => rows.where(isPending))
      .$if(status === 'failed', (rows) => rows.where((eb) => eb.not(isPending(eb))))
      .$if(expires_before !== undefined, (rows) =>
        rows.where('is_placeholder', '=', 0).where('expires_at', '<', new Date(expires_before ?? '').toISOString()),
      );
    const count = matching.select((eb) => eb.fn.countAll<number>().as('total'));
    return listOf(matching.selectAll(), count, pageOf(query, SORTABLE), (row) => row);
  },

  async find(named: Identifier): Promise<StoredCertificate | undefined> {
    return db.selectFrom('certificates').selectAll().where(columnOf(named), '=', named).executeTakeFirst();
  },

  /** How those of `ids` that nobody uploaded are had and kept, by the id of the certificate. */
  async keepingOf(ids: readonly number[]): Promise<Map<number, StoredKeeping>> {
    if (ids.length === 0) return new Map();
    const rows = await db
      .selectFrom('certificate_orders as o')
      .innerJoin('certificates as c', 'c.id', 'o.certificate_id')
      .leftJoin('revocations as r', 'r.chain_pem', 'c.chain_pem')
      .leftJoin('acme_accounts as a', 'a.id', 'o.account_id')
      .leftJoin('dns_providers as d', 'd.id', 'o.dns_provider_id')
      .select([
        ...([
          'o.certificate_id',
          'o.issuer',
          'o.account_id',
          'o.dns_provider_id',
          'o.challenge',
          'o.key_type',
        ] as const),
        ...(['o.is_auto', 'o.steps', 'o.issue', 'o.problem', 'o.last_attempt_at', 'o.next_attempt_at'] as const),
        ...(['o.renew_after', 'a.name as account', 'd.name as dns_provider'] as const),
        'r.asked_at as revocation_asked_at',
      ])
      .where('o.certificate_id', 'in', ids)
      .execute();
    return new Map(rows.map((row) => [row.certificate_id, row]));
  },

  async insert(certificate: NewCertificate): Promise<StoredCertificate> {
    const row = { ...certificate, ...(await revocationOf(db, certificate)) };
    return db.insertInto('certificates').values(row).returningAll().executeTakeFirstOrThrow();
  },

  /** Puts another chain and key in the place of what is there: hosts go on pointing at it. */
  async replace(
    id: number,
    fields: Pick<
      StoredCertificate,
      'domains' | 'chain_pem' | 'key_sealed' | 'not_before' | 'expires_at' | 'is_placeholder'
    > &
      Partial<Pick<StoredCertificate, 'name' | 'provider'>>,
  ): Promise<StoredCertificate> {
    const row = { ...fields, ...(await revocationOf(db, fields)) };
    return db.updateTable('certificates').set(row).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
  },

  async rename(id: number, name: string): Promise<StoredCertificate> {
    const query = db.updateTable('certificates').set({ name }).where('id', '=', id);
    return query.returningAll().executeTakeFirstOrThrow();
  },

  /** The names that are ordered for a certificate; undefined when nobody orders it. */
  async orderedNames(id: number): Promise<string[] | undefined> {
    const query = db.selectFrom('certificate_orders').select('names').where('certificate_id', '=', id);
    return (await query.executeTakeFirst())?.names.split(',');
  },

  /** Nobody orders or renews it from now on. Returns the order that there was. */
  async endOrder(id: number): Promise<CertificateOrderRow | undefined> {
    const query = db.deleteFrom('certificate_orders').where('certificate_id', '=', id);
    return query.returningAll().executeTakeFirst();
  },

  async restoreOrder(order: CertificateOrderRow): Promise<void> {
    await db.insertInto('certificate_orders').values(order).execute();
  },

  async delete(id: number): Promise<void> {
    await db.deleteFrom('certificates').where('id', '=', id).execute();
  },

  /** Ids of certificates by their chains, of those that are there. */
  async idsByChain(chains: readonly string[]): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    for await (const portion of inPortions(chains)) {
      const query = db.selectFrom('certificates').select(['id', 'chain_pem']).where('chain_pem', 'in', portion);
      for (const { id, chain_pem } of await query.where('is_placeholder', '=', 0).execute()) found.set(chain_pem, id);
    }
    return found;
  },

  /** Certificates that end at one of these moments: few, and among them every one that is known already. */
  async expiringAt(moments: readonly string[]): Promise<{ id: number; chain_pem: string }[]> {
    const found: { id: number; chain_pem: string }[] = [];
    for await (const portion of inPortions(moments)) {
      const query = db.selectFrom('certificates').select(['id', 'chain_pem']).where('expires_at', 'in', portion);
      found.push(...(await query.where('is_placeholder', '=', 0).execute()));
    }
    return found;
  },

  async findByIds(ids: readonly number[]): Promise<StoredCertificate[]> {
    return db.selectFrom('certificates').selectAll().where('id', 'in', ids).execute();
  },

  /** Names of every certificate that may be served for them, without their texts. */
  async names(): Promise<CertificateNames[]> {
    const rows = await db
      .selectFrom('certificates')
      .select(['id', 'domains', 'expires_at', 'revoked_at'])
      .where('is_placeholder', '=', 0)
      .execute();
    return rows.map(({ id, domains, ...rest }) => ({ id, domains, expires_at: endOf(rest) }));
  },

  /** Proxy hosts that name this certificate, oldest first. */
  async chosenBy(id: number): Promise<HostUse[]> {
    const hosts = db.selectFrom('proxy_hosts').select(['id', 'uuid', 'domain']).where('certificate_id', '=', id);
    return hosts.orderBy('id').execute();
  },

  /** How many proxy hosts name a certificate, of all that any does. */
  async chosenCounts(): Promise<{ id: number; total: number }[]> {
    const rows = await db
      .selectFrom('proxy_hosts')
      .select(({ fn }) => ['certificate_id as id', fn.countAll<number>().as('total')])
      .where('certificate_id', 'is not', null)
      .groupBy('certificate_id')
      .execute();
    return rows.map(({ id, total }) => ({ id: Number(id), total: Number(total) }));
  },

  /**
   * Names of hosts that left the choice of certificate to us, among `names` or, for `*.suffix`, below it; of very many `names` all
   * that there are.
   */
  async namesLeftToUs(names: readonly string[]): Promise<(HostUse & { name: string })[]> {
    const wildcards = names.filter((name) => name.startsWith('*.'));
    const isFew = names.length <= MAX_LOOKED_FOR && wildcards.length <= MAX_WILDCARDS;
    return db
      .selectFrom('proxy_host_names as n')
      .innerJoin('proxy_hosts as h', 'h.id', 'n.proxy_host_id')
      .select(['n.name', 'h.id', 'h.uuid', 'h.domain'])
      .where('h.certificate_id', 'is', null)
      .$if(isFew, (rows) =>
        rows.where(({ eb, or }) =>
          or([
            eb('n.name', 'in', names),
            ...wildcards.map((wildcard) => eb('n.name', 'like', `%${wildcard.slice(1)}`)),
          ]),
        ),
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
