import { createPrivateKey } from 'node:crypto';
import { AcmeAccount, AcmeProblemDocument, Certificate, CertificateSource, Timestamp } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import { parseEmail } from '@sallyport/store/names/email-address';
import { acmeAccountContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Row } from '@sallyport/store/snapshot/read-tables';
import { checkWritten, createRowCheck } from '../../check-row.ts';
import { directoryUrlOf } from './accounts/directories.ts';
import { parseAccountName, parseRoots } from './accounts/normalise.ts';
import { parseInternalNames } from './orders/names.ts';

const isOwnUrl = (url: unknown, directory: string): boolean =>
  URL.canParse(String(url)) && new URL(String(url)).origin === new URL(directory).origin;

/** Makes the check whether rows are accounts that could have been made here. It throws an `Error` that says why not. */
export const createAccountCheck = () => {
  const isAccount = createRowCheck(AcmeAccount);
  return async (row: Row, vault: Pick<Vault, 'open'>): Promise<void> => {
    const account = (await isAccount(row)) as unknown as AcmeAccount;
    const { name, directory_url, email, ca_certificate, eab_kid } = account;
    checkWritten('name', name, parseAccountName(name));
    checkWritten('directory_url', directory_url, directoryUrlOf(directory_url));
    if (email !== '') checkWritten('email', email, parseEmail(email));
    if (ca_certificate !== null) checkWritten('ca_certificate', ca_certificate, parseRoots(ca_certificate));
    if (row.account_url !== null && !isOwnUrl(row.account_url, directory_url)) {
      throw new Error('account_url is elsewhere than its directory');
    }
    if ((eab_kid === null) !== (row.eab_hmac_sealed === null)) throw new Error('half of its binding is missing');
    const key = createPrivateKey(vault.open(String(row.key_sealed), acmeAccountContext(String(row.uuid))));
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('its key is none of P-256');
  };
};

const orNull = Type.Union([Timestamp, Type.Null()]);
const { issuer, challenge, key_type, is_auto } = CertificateSource.properties;
const { steps, issue } = Certificate.properties;

/** Makes the check whether rows are orders that could have been made here. It throws an `Error` that says why not. */
export const createOrderCheck = () => {
  const isOrder = createRowCheck({
    properties: {
      ...{ issuer, challenge, key_type, is_auto, steps, issue },
      failures: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
      ...{ last_attempt_at: orNull, next_attempt_at: orNull, renew_after: orNull, ari_checked_until: orNull },
      ...{ created_at: Timestamp, updated_at: Timestamp },
    },
  });
  const isProblem = createRowCheck({ properties: { problem: AcmeProblemDocument } });
  return async (row: Row): Promise<void> => {
    await isOrder(row);
    const { problem } = row;
    if (problem !== undefined && problem !== null) await isProblem({ problem });
    checkWritten('names', row.names, parseInternalNames(String(row.names).split(',')).join(','));
  };
};

/** Throws an `Error` for a row that no order is counted by. */
export const checkLedger = createRowCheck({ properties: { ordered_at: Timestamp } });

/** Of what is known as revoked: the fingerprint as Node writes it. */
export const createRevokedCheck = () =>
  createRowCheck({
    properties: {
      fingerprint: Type.String({ pattern: '^[0-9A-F]{2}(:[0-9A-F]{2}){31}$' }),
      revoked_at: Timestamp,
      expires_at: Timestamp,
    },
  });
