import { X509Certificate } from 'node:crypto';
import { hmacKeyProblem } from '@sallyport/acme';
import type { NewAcmeAccount } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import { parseEmail } from '@sallyport/store/names/email-address';
import { directoryUrlOf } from './directories.ts';

const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

const named = <T>(field: string, parse: () => T): T => {
  try {
    return parse();
  } catch (error) {
    throw refuse.invalid(`${field} ${(error as Error).message}`);
  }
};

export const parseAccountName = (given: string): string => {
  const name = given.trim();
  if (name === '') throw refuse.invalid('name is required');
  return name;
};

/** Roots in PEM, written alike. Throws a 400. */
export const parseRoots = (text: string): string => {
  const blocks = text.match(BLOCK) ?? [];
  if (blocks.length === 0 || text.replace(BLOCK, '').trim() !== '') {
    throw refuse.invalid('ca_certificate must be certificates in PEM and nothing else');
  }
  return blocks
    .map((block, index) => {
      try {
        return new X509Certificate(block).toString();
      } catch {
        throw refuse.invalid(`ca_certificate: certificate ${index + 1} can not be parsed`);
      }
    })
    .join('');
};

/** A new account as it is asked for, checked as far as that goes without its authority. */
export interface AccountRequest {
  name: string;
  directoryUrl: string;
  email: string;
  isAgreed: boolean;
  eab: { kid: string; hmacKey: string } | undefined;
  caCertificate: string | null;
}

const bindingOf = ({ eab_kid, eab_hmac_key }: NewAcmeAccount): AccountRequest['eab'] => {
  const kid = eab_kid?.trim() ?? '';
  const hmacKey = eab_hmac_key?.trim() ?? '';
  if (kid === '' && hmacKey === '') return undefined;
  if (kid === '') throw refuse.invalid('eab_kid is required with eab_hmac_key');
  if (hmacKey === '') throw refuse.invalid('eab_hmac_key is required with eab_kid');
  const problem = hmacKeyProblem(hmacKey);
  if (problem !== undefined) throw refuse.invalid(`eab_hmac_key ${problem}`);
  return { kid, hmacKey };
};

/** Throws a 400 that names the field. */
export const normaliseAccount = (input: NewAcmeAccount): AccountRequest => {
  const { email = '', ca_certificate } = input;
  return {
    name: parseAccountName(input.name),
    directoryUrl: named('directory_url', () => directoryUrlOf(input.directory_url)),
    email: email.trim() === '' ? '' : named('email', () => parseEmail(email)),
    isAgreed: input.terms_agreed,
    eab: bindingOf(input),
    caCertificate: ca_certificate ? parseRoots(ca_certificate) : null,
  };
};
