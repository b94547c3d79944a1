import { AcmeProblem, AcmeProtocolError, AcmeUnreachable, makeCertificateKey } from '@sallyport/acme';
import { REVOCATION_REASONS, type RevocationReason } from '@sallyport/contract';
import { Refusal, refuse } from '@sallyport/store/errors';
import type { Vault } from '@sallyport/store/secrets/vault';
import { Unusable } from '../../lost-secret.ts';
import { type ClientOf, clientOf, withClient } from '../accounts/client.ts';
import type { StoredAccount } from '../accounts/store.ts';

/** Whether the authority may have done what it was asked for: its answer was lost, or can't be believed. */
export class AnswerLost extends Error {
  constructor(cause: unknown) {
    super('what the authority answered is not known', { cause });
    this.name = 'AnswerLost';
  }
}

/** The authority does not take a request that is signed like this; another signature may do. */
const isAboutSigner = (error: unknown): error is AcmeProblem =>
  error instanceof AcmeProblem &&
  ['unauthorized', 'accountDoesNotExist', 'badPublicKey', 'badSignatureAlgorithm'].some((kind) => error.is(kind));

/** It was refused, by the authority or by what stands before it: nothing was revoked. */
const isDecided = (error: unknown): boolean => {
  if (error instanceof AcmeProblem) return !error.is('serverInternal');
  return error instanceof AcmeProtocolError && error.status !== undefined;
};

/** What is answered for an authority that did not revoke it, in its own words. */
const refusalOf = (error: unknown): unknown => {
  if (error instanceof AcmeProblem) {
    return refuse.conflict(`The authority does not revoke it: ${error.detail}`, { details: error.type });
  }
  if (error instanceof AcmeUnreachable) {
    return refuse.conflict('The authority could not be reached: nothing was revoked', { details: error.message });
  }
  if (error instanceof AcmeProtocolError) {
    return refuse.conflict('The authority answered what can not be believed: nothing was revoked', {
      details: error.message,
    });
  }
  if ((error as Error).name === 'TimeoutError') {
    return refuse.conflict('The authority did not answer in time: nothing was revoked');
  }
  return error;
};

/** What is answered when nobody knows what the authority did. */
export const lostRefusal = ({ cause }: AnswerLost): Refusal =>
  refuse.conflict(
    'The answer of the authority was lost: it is asked again until it is known whether it has revoked it',
    {
      details: (cause as Error).message,
    },
  );

export interface AskDeps {
  vault: Pick<Vault, 'open'>;
  clock: () => Date;
}

/** What is to be revoked; `key_pem`: its own key, where that is there. */
export interface ToRevoke {
  account: StoredAccount;
  chain_pem: string;
  key_pem?: string | undefined;
  reason: RevocationReason;
}

/** A client with the account's key, or, when that is lost, with one that no account has: the certificate's own key will do. */
const clientFor = async (
  { account, key_pem }: ToRevoke,
  { vault }: AskDeps,
  signal: AbortSignal,
): Promise<{ of: ClientOf; isAccounts: boolean }> => {
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

/**
 * Has an authority revoke a certificate; tells whether it had already. Throws a `Refusal` (409) when nothing was revoked, an `AnswerLost` when
 * that is not known.
 */
export const askToRevoke = async (
  wanted: ToRevoke,
  deps: AskDeps,
  signal: AbortSignal,
): Promise<'revoked' | 'was revoked'> => {
  const { chain_pem, key_pem, reason } = wanted;
  const { of, isAccounts } = await clientFor(wanted, deps, signal);
  const own = key_pem === undefined ? [] : [key_pem];
  const byAccount = isAccounts ? [undefined] : [];
  // That a key is in other hands is proven by using it: authorities then take it from nobody any more.
  const signers = reason === 'key_compromise' ? [...own, ...byAccount] : [...byAccount, ...own];
  // RFC 5280, section 5.3.1: rather absent than unspecified.
  const code = REVOCATION_REASONS[reason] || undefined;
  let isAsked = false;
  const work = withClient(of, deps.clock, async (client) => {
    if ((await client.directory()).revokeCert === undefined) {
      throw refuse.conflict('The authority has no way to revoke certificates');
    }
    let refused: AcmeProblem | undefined;
    isAsked = true;
    for (const keyPem of signers) {
      try {
        return await client.revoke(chain_pem, { reason: code, keyPem });
      } catch (error) {
        if (!isAboutSigner(error)) throw error;
        refused ??= error;
      }
    }
    throw refused ?? new Error('nobody can sign the request');
  });
  return work.catch((error: unknown) => {
    if (error instanceof Refusal) throw error;
    throw isAsked && !isDecided(error) ? new AnswerLost(error) : refusalOf(error);
  });
};
