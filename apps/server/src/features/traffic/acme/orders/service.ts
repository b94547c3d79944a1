import type { CertificateInUse, NewCertificateOrder } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { CertificatePlane, Certificates, PlaceholderFields } from '../../certificates/service.ts';
import type { Accounts } from '../accounts/service.ts';
import { parseInternalNames, parseOrderNames } from './names.ts';
import { ACME_STEPS, INTERNAL_STEPS, waitingSteps } from './steps.ts';
import type { NewOrderRow, OrderStore } from './store.ts';

/** A DNS provider that an order may name. */
export interface NamedProvider {
  id: number;
  name: string;
}

/** What is meant when an order names nothing: the settings `acme.account` and `acme.dns_provider`; empty where not set. */
export interface OrderDefaults {
  account: string;
  dnsProvider: string;
}

export interface OrderDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => OrderStore;
  certificates: Pick<Certificates, 'get' | 'within' | 'makeStandIn'>;
  accounts: Pick<Accounts, 'resolve'>;
  findProvider: (executor: Executor, named: Identifier) => Promise<NamedProvider | undefined>;
  findProviderByName: (executor: Executor, name: string) => Promise<NamedProvider | undefined>;
  defaults: () => Promise<OrderDefaults>;
  syncCertificates: CertificatePlane['syncCertificates'];
  /** To be told that something is due. */
  nudge: () => void;
  record: RecordChange;
  clock: () => Date;
}

type How = Pick<NewOrderRow, 'issuer' | 'account_id' | 'dns_provider_id' | 'challenge' | 'key_type'>;

/** The row of a certificate that is to be had at once. */
export const newOrderRow = (
  certificate_id: number,
  names: readonly string[],
  how: How,
  { isAuto, now }: { isAuto: boolean; now: string },
): NewOrderRow => ({
  certificate_id,
  ...how,
  names: names.join(','),
  is_auto: isAuto ? 1 : 0,
  steps: JSON.stringify(waitingSteps(how.issuer === 'internal' ? INTERNAL_STEPS : ACME_STEPS)),
  failures: 0,
  next_attempt_at: now,
  leased_by: '',
  leased_until: '',
  created_at: now,
  updated_at: now,
});

/** An order that is not made (yet). */
export interface PlannedOrder {
  names: readonly string[];
  challenge: 'http-01' | 'dns-01';
  accountId: number;
  dnsProviderId: number | null;
}

/** Orders certificates, and has them renewed before their time. */
export const createOrders = (deps: OrderDeps) => {
  const { db, transact, store, certificates, accounts, nudge, record, clock } = deps;

  const providerOf = async (
    tx: Executor,
    named: Identifier | null | undefined,
    fallback: string,
  ): Promise<NamedProvider> => {
    if (named !== undefined && named !== null) {
      const provider = await deps.findProvider(tx, typeof named === 'string' ? named.toLowerCase() : named);
      if (!provider) throw refuse.invalid('dns_provider_id names no DNS provider');
      return provider;
    }
    const provider = fallback === '' ? undefined : await deps.findProviderByName(tx, fallback);
    if (provider) return provider;
    throw refuse.invalid(
      'dns_provider_id is required: dns-01 needs somebody who writes records; add one by POST /api/v1/dns-providers',
    );
  };

  /** Throws a 400 that names the field. */
  const howOf = async (
    tx: Executor,
    input: NewCertificateOrder,
    challenge: 'http-01' | 'dns-01',
    defaults: OrderDefaults,
  ): Promise<How> => {
    const account = await accounts.resolve(tx, input.account_id, defaults.account);
    const provider =
      challenge === 'dns-01' ? await providerOf(tx, input.dns_provider_id, defaults.dnsProvider) : undefined;
    return {
      issuer: 'acme',
      account_id: account.id,
      dns_provider_id: provider?.id ?? null,
      challenge,
      key_type: input.key_type ?? 'p256',
    };
  };

  const challengeOf = ({ challenge, dns_provider_id }: NewCertificateOrder): 'http-01' | 'dns-01' => {
    const names = dns_provider_id !== undefined && dns_provider_id !== null;
    if (names && challenge === 'http-01') throw refuse.invalid('dns_provider_id has no use with the challenge http-01');
    return challenge ?? (names ? 'dns-01' : 'http-01');
  };

  const refuseForInternal = (input: NewCertificateOrder): void => {
    for (const field of ['challenge', 'account_id', 'dns_provider_id'] as const) {
      if (input[field] === undefined || input[field] === null) continue;
      throw refuse.invalid(`${field} has no use with provider internal: nothing has to be proven to our own authority`);
    }
  };

  const insertIn = async (
    tx: Executor,
    input: NewCertificateOrder,
    { names, standIn }: { names: readonly string[]; standIn: PlaceholderFields['standIn'] },
    how: How,
    actor: Actor,
  ): Promise<number> => {
    const provider = how.issuer === 'internal' ? 'internal' : 'letsencrypt';
    const name = input.name?.trim() || (names[0] ?? '');
    const { id } = await certificates.within.createPlaceholder(tx, { name, standIn, provider }, actor);
    await store(tx).insert([newOrderRow(id, names, how, { isAuto: false, now: clock().toISOString() })]);
    return id;
  };

  return {
    /** What an order with an account would be, without making it; undefined for the internal authority. Throws a 400. */
    async plan(input: NewCertificateOrder): Promise<PlannedOrder | undefined> {
      if (input.provider === 'internal') {
        refuseForInternal(input);
        parseInternalNames(input.names);
        return undefined;
      }
      const challenge = challengeOf(input);
      const names = parseOrderNames(input.names, challenge);
      const { account_id, dns_provider_id } = await howOf(db, input, challenge, await deps.defaults());
      if (account_id === null || account_id === undefined) throw new Error('an order has an account');
      return { names, challenge, accountId: account_id, dnsProviderId: dns_provider_id ?? null };
    },

    /** Takes an order in; it is worked at by itself. Throws a 400 that names the field. */
    async order(input: NewCertificateOrder, actor: Actor): Promise<CertificateInUse> {
      const isInternal = input.provider === 'internal';
      if (isInternal) refuseForInternal(input);
      const challenge = challengeOf(input);
      const names = isInternal ? parseInternalNames(input.names) : parseOrderNames(input.names, challenge);
      // Not in the transaction: SQLite has one connection, which that holds.
      const defaults = await deps.defaults();
      const standIn = await certificates.makeStandIn(names);
      const id = await transact(async (tx) => {
        const how: How = isInternal
          ? { issuer: 'internal', key_type: input.key_type ?? 'p256' }
          : await howOf(tx, input, challenge, defaults);
        return insertIn(tx, input, { names, standIn }, how, actor);
      });
      await deps.syncCertificates([id]);
      nudge();
      return certificates.get(id);
    },

    /** Has a certificate renewed, or tried for again, now. Throws a 404, and a 409 for one that was uploaded. */
    async renew(named: Identifier, actor: Actor): Promise<CertificateInUse> {
      const { id, uuid, name } = await certificates.get(named);
      const now = clock().toISOString();
      await transact(async (tx) => {
        if (!(await store(tx).change(id, { next_attempt_at: now, updated_at: now }))) {
          throw refuse.conflict('The certificate was uploaded: nobody can renew it but who has it from', {
            details: 'Upload its successor, or order one of these names',
          });
        }
        await record(tx, {
          action: 'certificate.renew_now',
          actor,
          resource: `certificates/${id}`,
          after: { id, uuid, name },
        });
      });
      nudge();
      return certificates.get(id);
    },
  };
};
export type Orders = ReturnType<typeof createOrders>;
