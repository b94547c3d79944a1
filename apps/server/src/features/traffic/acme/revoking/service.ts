import { AcmeProblem, AcmeProtocolError, AcmeUnreachable, makeCertificateKey } from '@sallyport/acme';
import {
  type NotificationEvent,
  REVOCATION_REASONS,
  type RevocationReason,
  type RevokedCertificate,
} from '@sallyport/contract';
import type { Actor } from '@sallyport/store/actor';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { CertificatePlane, Certificates } from '../../certificates/service.ts';
import { Unusable } from '../../lost-secret.ts';
import { type ClientOf, clientOf, withClient } from '../accounts/client.ts';
import type { StoredAccount } from '../accounts/store.ts';
import type { OrderStore } from '../orders/store.ts';

export interface RevokingDeps {
  db: Executor;
  transact: Transact;
  orders: (executor: Executor) => Pick<OrderStore, 'find' | 'change'>;
  certificates: Pick<Certificates, 'get' | 'open' | 'within'>;
  findAccount: (id: number) => Promise<StoredAccount | undefined>;
  vault: Pick<Vault, 'open'>;
  syncCertificates: CertificatePlane['syncCertificates'];
  /** To be told that an order is due. */
  nudge: () => void;
  tell: (event: NotificationEvent) => void;
  clock: () => Date;
}

/** Somebody waits for the answer. */
const ANSWER_MS = 45_000;

type Held = Awaited<ReturnType<Certificates['open']>>;

/** The authority does not take a request that is signed like this; another signature may do. */
const isAboutSigner = (error: unknown): error is AcmeProblem =>
  error instanceof AcmeProblem &&
  ['unauthorized', 'accountDoesNotExist', 'badPublicKey', 'badSignatureAlgorithm'].some((kind) => error.is(kind));

/** What is answered for an authority that did not revoke it, in its own words. */
const refusalOf = (error: unknown): unknown => {
  if (error instanceof AcmeProblem) {
    return refuse.conflict(`The authority does not revoke it: ${error.detail || error.type}`, { details: error.type });
  }
  if (error instanceof AcmeUnreachable) {
    return refuse.conflict('The authority could not be reached: nothing was revoked', { details: error.message });
  }
  if (error instanceof AcmeProtocolError) {
    return refuse.conflict('The authority answered what can not be believed', { details: error.message });
  }
  if ((error as Error).name === 'TimeoutError') {
    return refuse.conflict('The authority did not answer in time: ask again, which tells whether it was revoked');
  }
  return error;
};

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

/** Has certificates revoked by who issued them, and others ordered in their place. */
export const createRevoking = (deps: RevokingDeps) => {
  const { db, transact, orders, certificates, vault, clock } = deps;

  /** A client with the account's key, or, when that is lost, with one that no account has: the certificate's own key will do. */
  const clientFor = async (
    account: StoredAccount,
    { key_pem }: Held,
  ): Promise<{ of: ClientOf; isAccounts: boolean }> => {
    const signal = AbortSignal.timeout(ANSWER_MS);
    try {
      return { of: clientOf(account, vault, signal), isAccounts: true };
    } catch (error) {
      if (!(error instanceof Unusable)) throw error;
      if (key_pem === undefined) throw refuse.conflict(error.what, { details: error.fix });
      const { directory_url: directoryUrl, ca_certificate: caCertificate } = account;
      return {
        of: { directoryUrl, accountKeyPem: await makeCertificateKey('p256'), caCertificate, signal },
        isAccounts: false,
      };
    }
  };

  const ask = async (
    account: StoredAccount,
    held: Held,
    reason: RevocationReason,
  ): Promise<'revoked' | 'was revoked'> => {
    const { of, isAccounts } = await clientFor(account, held);
    const own = held.key_pem === undefined ? [] : [held.key_pem];
    const byAccount = isAccounts ? [undefined] : [];
    // That a key is in other hands is proven by using it: authorities then take it from nobody any more.
    const signers = reason === 'key_compromise' ? [...own, ...byAccount] : [...byAccount, ...own];
    // RFC 5280, section 5.3.1: rather absent than unspecified.
    const code = REVOCATION_REASONS[reason] || undefined;
    return withClient(of, clock, async (client) => {
      let refused: AcmeProblem | undefined;
      for (const keyPem of signers) {
        try {
          return await client.revoke(held.chain_pem, { reason: code, keyPem });
        } catch (error) {
          if (!isAboutSigner(error)) throw error;
          refused ??= error;
        }
      }
      throw refused ?? new Error('nobody can sign the request');
    });
  };

  const note = (held: Held, reason: RevocationReason, actor: Actor): Promise<void> =>
    transact(async (tx) => {
      // A renewal was faster: what it replaced is what was revoked.
      if (!(await certificates.within.noteRevoked(tx, held, reason, actor))) return;
      const now = clock().toISOString();
      const next =
        reason === 'cessation_of_operation'
          ? { next_attempt_at: null, ari_checked_until: null }
          : { next_attempt_at: now };
      await orders(tx).change(held.id, { ...next, updated_at: now });
    });

  return {
    /**
     * Has the authority revoke a certificate; another one, with a new key, is ordered in its place unless operation ceases. Throws a 404, and a
     * 409 for one that no authority of an account issued, that is revoked already, or that the authority does not revoke.
     */
    async revoke(named: Identifier, reason: RevocationReason, actor: Actor): Promise<RevokedCertificate> {
      const held = await certificates.open(named);
      const order = await orders(db).find(held.id);
      refuseUnlessOrdered({ issuer: order?.issuer });
      if (held.revoked_at !== null) throw refuse.conflict(`The certificate was revoked already, on ${held.revoked_at}`);
      const account = order?.account_id ? await deps.findAccount(order.account_id) : undefined;
      if (!account) throw refuse.conflict('The account that it was ordered with is gone');
      const done = await ask(account, held, reason).catch((error: unknown) => {
        throw refusalOf(error);
      });
      await note(held, reason, actor);
      await deps.syncCertificates([held.id]);
      deps.nudge();
      const { uuid, name, domains } = held;
      const message = `The certificate ${name} was revoked (${reason})`;
      deps.tell({
        ...{ event_type: 'certificate_revoked', severity: 'warn', timestamp: clock().toISOString(), message },
        details: { certificate: uuid, names: domains, expires_at: held.expires_at },
      });
      const { used_by: _, used_by_total: __, ...certificate } = await certificates.get(held.id);
      const said = done === 'revoked' ? 'The authority has revoked it' : 'The authority had revoked it already';
      const next =
        reason === 'cessation_of_operation'
          ? 'no other one is ordered, unless a host with auto_certificate needs it'
          : 'another one with a new key is ordered in its place';
      return { certificate, message: `${said}; ${next}` };
    },
  };
};
export type Revoking = ReturnType<typeof createRevoking>;
