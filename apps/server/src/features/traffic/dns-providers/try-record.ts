import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { SecretLost } from '../lost-secret.ts';
import type { DnsProviderAccess } from './access.ts';
import { readAccountKey, recordValue } from './lego/account-key.ts';
import { type DnsRecordWriter, DnsWriteFailed, type OpenRecords } from './writer.ts';

/** A test is waited for. */
const LIMIT_MINUTES = 5;
const WAIT_MS = 60_000;

/** A challenge of nobody's account. */
const madeUpChallenge = (domain: string) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const accountKeyPem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  const token = randomBytes(32).toString('base64url');
  return { accountKeyPem, challenge: { domain, token, value: recordValue(token, readAccountKey(accountKeyPem)) } };
};

/** Sets the record of a made-up challenge and takes it away. Resolves with what came of it, in words. */
export const tryRecord = async (
  writer: DnsRecordWriter,
  open: () => DnsProviderAccess,
  domain: string,
): Promise<{ ok: boolean; message: string }> => {
  const name = `_acme-challenge.${domain}`;
  const signal = AbortSignal.timeout(LIMIT_MINUTES * 60_000);
  let access: DnsProviderAccess;
  let records: OpenRecords;
  try {
    access = open();
  } catch (error) {
    if (error instanceof SecretLost) return { ok: false, message: error.message };
    throw error;
  }
  const { accountKeyPem, challenge } = madeUpChallenge(domain);
  try {
    records = await writer.open(access, [challenge], { accountKeyPem, signal, waitMs: WAIT_MS });
  } catch (error) {
    if (error instanceof DnsWriteFailed) return { ok: false, message: error.message };
    if (signal.aborted) return { ok: false, message: `It was not done within ${LIMIT_MINUTES} minutes` };
    throw error;
  }
  try {
    await records.close();
  } catch (error) {
    if (!(error instanceof DnsWriteFailed)) throw error;
    return { ok: false, message: `The record ${name} was set, but stays there: ${error.message}` };
  }
  return { ok: true, message: `The record ${name} was set, seen at the servers of its zone, and taken away` };
};
