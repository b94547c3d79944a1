import type { KeyType } from '@sallyport/acme';
import type { CertificateStep } from '@sallyport/contract';
import { type Actor, systemActor } from '@sallyport/store/actor';
import type { Executor, Transact, TransactAside } from '@sallyport/store/database/open';
import { orderKeyContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Logger } from 'pino';
import type { CertificatePair } from '../../certificates/pem.ts';
import type { CertificatePlane } from '../../certificates/service.ts';
import { versionOf } from '../../certificates/source.ts';
import type { StoredCertificate } from '../../certificates/store.ts';
import { accountKeyOf, clientOf, withClient } from '../accounts/client.ts';
import type { StoredAccount } from '../accounts/store.ts';
import type { UnderWay } from './acme-attempt.ts';
import type { AcmeOrder } from './acme-order.ts';
import { tryAgainAt } from './back-off.ts';
import { CannotOrder, explain, ValidationFailed } from './failure.ts';
import type { Ledger } from './ledger/service.ts';
import type { Outcome } from './outcome.ts';
import { laterOf, renewableFrom, renewalByLifetime } from './renewal-times.ts';
import { ACME_STEPS, createSteps, INTERNAL_STEPS, type Steps } from './steps.ts';
import { type OrderStore, type OrderWithSubject, unlessAsked } from './store.ts';

/** An order that this process works at. */
export interface Claim {
  id: number;
  /** No other claim is called so. */
  token: string;
  /** Ends when the process does, or when the claim is lost. */
  signal: AbortSignal;
}

/** Somebody else has the order now, or it is gone: what this attempt found is nobody's business any more. */
export class ClaimLost extends Error {
  constructor() {
    super('somebody else works at the order, or it is gone');
    this.name = 'ClaimLost';
  }
}

type Pair = Pick<CertificatePair, 'chainPem' | 'keyPem'>;

export interface AttemptDeps {
  db: Executor;
  transact: Transact;
  transactAside: TransactAside;
  store: (executor: Executor) => OrderStore;
  findAccount: (id: number) => Promise<StoredAccount | undefined>;
  vault: Vault;
  acmeOrder: AcmeOrder;
  issueInternally: (request: { names: readonly string[]; keyType: KeyType }, actor: Actor) => Promise<Pair>;
  replace: (tx: Executor, id: number, pair: Pair, actor: Actor) => Promise<StoredCertificate>;
  plane: CertificatePlane;
  ledger: Ledger;
  /** Told of each step that an order takes. */
  stepped: (row: OrderWithSubject, step: CertificateStep) => void;
  /** Told of what came of each attempt. */
  ended: (outcome: Outcome) => void;
  clock: () => Date;
  /** Within 0 and 1. */
  random: () => number;
  log: Logger;
}

const ACTOR = systemActor('certificate orders');

/** Makes what works at one order that is due, until it is done, fails or the process ends. */
export const createAttempt = (deps: AttemptDeps) => {
  const { db, transact, transactAside, store, vault, ledger, plane, clock, random, log } = deps;

  const keptOf = ({ certificate_id, order_url, order_key_sealed }: OrderWithSubject): UnderWay | undefined => {
    if (order_url === null || order_key_sealed === null) return undefined;
    try {
      return { url: order_url, keyPem: vault.open(order_key_sealed, orderKeyContext(certificate_id)) };
    } catch {
      // Sealed with a key that is lost: the order is of no use without it.
      return undefined;
    }
  };

  const accountOf = async ({ account_id }: OrderWithSubject): Promise<StoredAccount | undefined> =>
    account_id === null ? undefined : deps.findAccount(account_id);

  const byAcme = async (row: OrderWithSubject, { id, token, signal }: Claim, steps: Steps): Promise<Pair> => {
    const account = await accountOf(row);
    if (!account) throw new CannotOrder('The account it is ordered with is gone: order it anew with another one');
    const underWay = keptOf(row);
    return withClient(clientOf(account, vault, signal), clock, (client) =>
      deps.acmeOrder({
        row,
        account,
        accountKeyPem: accountKeyOf(account, vault),
        client,
        steps,
        underWay,
        async keep({ url, keyPem }) {
          const isOurs = await transactAside((tx) =>
            store(tx).save(id, token, { order_url: url, order_key_sealed: vault.seal(keyPem, orderKeyContext(id)) }),
          );
          if (!isOurs) throw new ClaimLost();
        },
        signal,
      }),
    );
  };

  const byOurselves = async (row: OrderWithSubject, steps: Steps): Promise<Pair> => {
    await steps.enter('issue', 'The internal authority signs it.');
    return deps.issueInternally({ names: row.names.split(','), keyType: row.key_type as KeyType }, ACTOR);
  };

  /** Puts it in the place of what is there, with all that the order knows, at once; the old one is served until then. */
  const install = async (
    row: OrderWithSubject,
    { id, token }: Claim,
    pair: Pair,
    steps: Steps,
  ): Promise<StoredCertificate> => {
    const directoryUrl = (await accountOf(row))?.directory_url;
    return transact(async (tx) => {
      if ((await store(tx).find(id))?.leased_by !== token) throw new ClaimLost();
      const certificate = await deps.replace(tx, id, pair, ACTOR);
      const lifetime = { notBefore: new Date(certificate.not_before), notAfter: new Date(certificate.expires_at) };
      const now = clock();
      const renewAfter = laterOf(renewalByLifetime(lifetime, random()), renewableFrom(lifetime, now)).toISOString();
      await store(tx).save(id, token, {
        order_url: null,
        order_key_sealed: null,
        // Whatever ends the process from here on, the proxy takes it from the store.
        steps: JSON.stringify(steps.finished('It is in its place.')),
        issue: null,
        problem: null,
        failures: 0,
        last_attempt_at: now.toISOString(),
        // Another root may have taken over since it was signed: then it is signed anew.
        next_attempt_at: row.issuer === 'internal' ? unlessAsked(row.next_attempt_at, renewAfter) : renewAfter,
        renew_after: renewAfter,
        // At once: whether the authority wants it sooner, or later.
        ari_checked_until: row.issuer === 'acme' ? now.toISOString() : null,
        updated_at: now.toISOString(),
      });
      if (directoryUrl !== undefined) await ledger.settle({ directoryUrl, names: row.names.split(',') }, 'issued', tx);
      return certificate;
    });
  };

  /** Notes what the authority counts of a failure. */
  const count = async (row: OrderWithSubject, error: unknown, isOrderOver: boolean): Promise<void> => {
    const account = await accountOf(row);
    if (!account) return;
    const entry = { directoryUrl: account.directory_url, names: row.names.split(',') };
    if (isOrderOver) await ledger.settle(entry, 'refused');
    if (error instanceof ValidationFailed) await ledger.failed(account, error.invalidNames);
  };

  const failed = async (row: OrderWithSubject, { id, token }: Claim, steps: Steps, error: unknown): Promise<void> => {
    const failure = explain(error);
    await count(row, error, failure.isOrderOver);
    const wanted = await store(db).find(id);
    if (wanted !== undefined && wanted.names !== row.names) {
      log.info({ err: error, certificate: row.name }, 'a certificate is ordered for other names now');
      return void (await store(db).release(row, token, { order_url: null, order_key_sealed: null }));
    }
    const now = clock();
    const failures = row.failures + 1;
    const nextAt = tryAgainAt(failures, now, random(), failure.notBefore);
    log.warn({ err: error, certificate: row.name, retry_at: nextAt.toISOString() }, 'a certificate could not be had');
    steps.fail(failure.issue);
    const isOurs = await store(db).release(row, token, {
      ...(failure.isOrderOver ? { order_url: null, order_key_sealed: null } : {}),
      steps: JSON.stringify(steps.all()),
      issue: failure.issue,
      problem: failure.problem && JSON.stringify(failure.problem),
      failures,
      last_attempt_at: now.toISOString(),
      next_attempt_at: nextAt.toISOString(),
      updated_at: now.toISOString(),
    });
    if (!isOurs) return;
    for (const step of steps.all()) if (step.status === 'failed') deps.stepped(row, step);
    deps.ended({ row, result: 'failed', issue: failure.issue, failures, nextAt });
  };

  /** Has it, in its place in the store. */
  const have = async (row: OrderWithSubject, claim: Claim, steps: Steps): Promise<StoredCertificate> => {
    const pair = row.issuer === 'internal' ? await byOurselves(row, steps) : await byAcme(row, claim, steps);
    await steps.enter('install', 'Puts it in its place, and reads back that the proxy serves it.');
    return install(row, claim, pair, steps);
  };

  /** Takes to the proxy what is in its place. Whatever becomes of that, it is no reason to order another one. */
  const serve = async (
    row: OrderWithSubject,
    { id, token }: Claim,
    steps: Steps,
    certificate: StoredCertificate,
  ): Promise<void> => {
    await plane.syncCertificates([id]);
    const { applied, issue } = plane.certificateState(id, versionOf(certificate));
    if (applied) steps.finish(`The proxy serves it; it expires on ${certificate.expires_at}.`);
    else steps.fail(`It is stored, but the proxy lacks it yet: ${issue ?? 'it was not read back'}`);
    await store(db).release(row, token, { steps: JSON.stringify(steps.all()) });
    const last = steps.all().at(-1);
    if (last) deps.stepped(row, last);
    deps.ended({ row, result: row.is_placeholder === 1 ? 'issued' : 'renewed', certificate });
  };

  return async (claim: Claim): Promise<void> => {
    const { id, token, signal } = claim;
    const row = await store(db).find(id);
    if (!row) return;
    const steps = createSteps(row.issuer === 'internal' ? INTERNAL_STEPS : ACME_STEPS, async (all) => {
      if (!(await store(db).save(id, token, { steps: JSON.stringify(all) }))) throw new ClaimLost();
      const running = all.find(({ status }) => status === 'running');
      if (running) deps.stepped(row, running);
    });
    let certificate: StoredCertificate;
    try {
      certificate = await have(row, claim, steps);
    } catch (error) {
      if (error instanceof ClaimLost || signal.reason instanceof ClaimLost) return;
      // The process ends: its successor takes it up from here.
      if (signal.aborted) return void (await store(db).release(row, token, {}));
      return failed(row, claim, steps, error);
    }
    await serve(row, claim, steps, certificate);
  };
};
export type RunAttempt = ReturnType<typeof createAttempt>;
