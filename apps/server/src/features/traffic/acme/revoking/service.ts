import type { NotificationEvent, RevocationReason, RevokedCertificate } from '@sallyport/contract';
import type { Actor } from '@sallyport/store/actor';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Executor, Transact, TransactAside } from '@sallyport/store/database/open';
import { Refusal, refuse } from '@sallyport/store/errors';
import { fingerprintOf } from '@sallyport/store/revoked-certificates';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Logger } from 'pino';
import { repeat } from '../../../../dataplane/repeat.ts';
import type { CertificatePlane, Certificates } from '../../certificates/service.ts';
import type { StoredAccount } from '../accounts/store.ts';
import { tryAgainAt } from '../orders/back-off.ts';
import type { OrderStore } from '../orders/store.ts';
import { AnswerLost, askToRevoke, lostRefusal } from './ask.ts';
import type { Asked, Lease, RevocationStore } from './store.ts';

export interface RevokingDeps {
  db: Executor;
  transact: Transact;
  transactAside: TransactAside;
  store: (executor: Executor) => RevocationStore;
  orders: (executor: Executor) => Pick<OrderStore, 'find' | 'change'>;
  certificates: Pick<Certificates, 'get' | 'open' | 'within'>;
  findAccount: (id: number) => Promise<StoredAccount | undefined>;
  vault: Pick<Vault, 'open'>;
  /** No other process works at this store. */
  isAlone: boolean;
  syncCertificates: CertificatePlane['syncCertificates'];
  /** To be told that an order is due. */
  nudge: () => void;
  tell: (event: NotificationEvent) => void;
  clock: () => Date;
  /** Within 0 and 1. */
  random: () => number;
  /** Pause before each look for what is to be asked again. Default 5 seconds. */
  lookMs?: number;
  log: Logger;
}

/** Somebody waits for the answer. */
const ANSWER_MS = 45_000;
/** So long nobody else asks for the same. */
const LEASE_MS = 60_000;
const LOOK_MS = 5_000;

const refuseUnlessOrdered = ({ issuer }: { issuer?: string | undefined }): void => {
  if (issuer === undefined) {
    throw refuse.conflict('The certificate was uploaded: only where it is from can it be revoked', {
      details: 'Revoke it there, and upload another one in its place',
    });
  }
  if (issuer !== 'internal') return;
  throw refuse.conflict(
    'The internal authority can not revoke: it keeps no list of revoked certificates that clients could ask for',
    {
      details:
        'Renew it: another one with a new key takes its place. Who has the old key can use it until it expires, within 30 days, or devices trust another root in place of this one',
    },
  );
};

/**
 * Has certificates revoked by who issued them, and others ordered in their place. What is asked for is stored before, so that whatever ends this
 * process in between, it is asked for again until the answer is noted: authorities tell of what they have revoked already.
 */
export const createRevoking = (deps: RevokingDeps) => {
  const {
    db,
    transact,
    transactAside,
    store,
    orders,
    certificates,
    vault,
    clock,
    random,
    lookMs = LOOK_MS,
    log,
  } = deps;

  const leaseNow = (): Lease => {
    const now = clock().getTime();
    const [until, latest] = [now + LEASE_MS, now + 2 * LEASE_MS].map((time) => new Date(time).toISOString());
    return { now: new Date(now).toISOString(), until: until ?? '', latest: latest ?? '' };
  };

  /** Notes that it was revoked, wherever it is, and that another one is due; false when somebody else did. */
  const note = (asked: Asked): Promise<number[] | undefined> =>
    transact(async (tx) => {
      if (!(await store(tx).end(asked.fingerprint))) return undefined;
      const { certificate, chain_pem, reason, asked_by } = asked;
      const ids = await certificates.within.noteRevoked(tx, { ...certificate, chain_pem }, reason, asked_by);
      // A renewal was faster: what it replaced is what was revoked.
      if (!ids.includes(certificate.id)) return ids;
      const now = clock().toISOString();
      const next =
        reason === 'cessation_of_operation'
          ? { next_attempt_at: null, ari_checked_until: null }
          : { next_attempt_at: now };
      await orders(tx).change(certificate.id, { ...next, updated_at: now });
      return ids;
    });

  const conclude = async (asked: Asked): Promise<void> => {
    const ids = await note(asked);
    if (ids === undefined) return;
    await deps.syncCertificates(ids);
    deps.nudge();
    const { uuid, name, domains, expires_at } = asked.certificate;
    const message = `The certificate ${name} was revoked (${asked.reason})`;
    deps.tell({
      ...{ event_type: 'certificate_revoked', severity: 'warn', timestamp: clock().toISOString(), message },
      details: { certificate: uuid, names: domains, expires_at },
    });
  };

  /** Asks for one that is leased, and notes what came of it. Throws as `askToRevoke`. */
  const settle = async (asked: Asked, account: StoredAccount, key_pem: string | undefined, signal: AbortSignal) => {
    const { fingerprint, chain_pem, reason } = asked;
    const done = await askToRevoke({ account, chain_pem, key_pem, reason }, { vault, clock }, signal).catch(
      async (error: unknown) => {
        if (error instanceof AnswerLost) {
          const failures = asked.failures + 1;
          const next_attempt_at = tryAgainAt(failures, clock(), random()).toISOString();
          await store(db).release(fingerprint, { failures, next_attempt_at });
        } else await store(db).end(fingerprint);
        throw error;
      },
    );
    await conclude(asked);
    return done;
  };

  /** Its own key, while it is in its place. */
  const keyOf = async ({ certificate, chain_pem }: Asked): Promise<string | undefined> => {
    try {
      const held = await certificates.open(certificate.uuid);
      return held.chain_pem === chain_pem ? held.key_pem : undefined;
    } catch (error) {
      if (error instanceof Refusal) return undefined;
      throw error;
    }
  };

  const takeUp = async (asked: Asked, stopping: AbortSignal): Promise<void> => {
    const { fingerprint, certificate, account_id } = asked;
    const account = await deps.findAccount(account_id);
    const isOver = certificate.expires_at <= clock().toISOString();
    if (!account || isOver) {
      log.warn(
        { certificate: certificate.name, isOver },
        'whether a certificate was revoked can not be asked any more',
      );
      return void (await store(db).end(fingerprint));
    }
    try {
      await settle(asked, account, await keyOf(asked), AbortSignal.any([stopping, AbortSignal.timeout(ANSWER_MS)]));
      log.info({ certificate: certificate.name }, 'a certificate is revoked, as was asked for before');
    } catch (err) {
      if (!(err instanceof AnswerLost || err instanceof Refusal)) throw err;
      log.warn(
        { err, certificate: certificate.name },
        'a certificate that was to be revoked is not, as far as is known',
      );
    }
  };

  const look = async (stopping: AbortSignal): Promise<void> => {
    for (const asked of await store(db).due(leaseNow())) {
      if (stopping.aborted) return;
      if (await store(db).claim(asked.fingerprint, leaseNow())) await takeUp(asked, stopping);
    }
  };

  return {
    /**
     * Has the authority revoke a certificate; another one, with a new key, is ordered in its place unless operation ceases. Throws a 404, and a
     * 409 for one that no authority of an account issued, that is revoked already, that the authority does not revoke, or whose answer was lost.
     */
    async revoke(named: Identifier, reason: RevocationReason, actor: Actor): Promise<RevokedCertificate> {
      const held = await certificates.open(named);
      const order = await orders(db).find(held.id);
      refuseUnlessOrdered({ issuer: order?.issuer });
      if (held.revoked_at !== null) throw refuse.conflict(`The certificate was revoked already, on ${held.revoked_at}`);
      const account = order?.account_id ? await deps.findAccount(order.account_id) : undefined;
      if (!account) throw refuse.conflict('The account that it was ordered with is gone');
      const { id, uuid, name, provider, domains, expires_at, chain_pem } = held;
      const lease = leaseNow();
      const { confirm: _, idempotencyId: __, ...asked_by } = actor;
      const asked: Asked = {
        fingerprint: fingerprintOf(chain_pem),
        certificate: { id, uuid, name, provider, domains, expires_at },
        ...{ chain_pem, account_id: account.id, reason, asked_by },
        ...{ asked_at: lease.now, failures: 0, next_attempt_at: lease.now, leased_until: lease.until },
      };
      if (!(await transactAside((tx) => store(tx).begin(asked, lease)))) {
        throw refuse.conflict('The authority is being asked to revoke it already');
      }
      const done = await settle(asked, account, held.key_pem, AbortSignal.timeout(ANSWER_MS)).catch(
        (error: unknown) => {
          throw error instanceof AnswerLost ? lostRefusal(error) : error;
        },
      );
      const { used_by: _used, used_by_total: _total, ...certificate } = await certificates.get(held.id);
      const said = done === 'revoked' ? 'The authority has revoked it' : 'The authority had revoked it already';
      const next =
        reason === 'cessation_of_operation'
          ? 'no other one is ordered, unless a host with auto_certificate needs it'
          : 'another one with a new key is ordered in its place';
      return { certificate, message: `${said}; ${next}` };
    },

    /** Asks again for what was asked for and never noted, now and then until stopped. */
    async start(): Promise<{ stop(): Promise<void> }> {
      const stopping = new AbortController();
      if (deps.isAlone) await store(db).releaseAll();
      const repeating = repeat('ask again for revocations', lookMs, () => look(stopping.signal), log);
      return {
        async stop() {
          stopping.abort();
          await repeating.stop();
        },
      };
    },
  };
};
export type Revoking = ReturnType<typeof createRevoking>;
