import type { X509Certificate } from 'node:crypto';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { refuse } from '@sallyport/store/errors';
import type { Found, FoundCertificate, FoundKey } from './read-files.ts';

/** Leaf and authorities; TLS clients read no more. */
const MAX_CHAIN = 10;
/** Of issuers by name, in all: each takes up to a millisecond, and whoever wrote the files chose the names. */
const MOST_TRIES = 10_000;

export interface Pair {
  leaf: FoundCertificate;
  key: FoundKey;
  /** Leaf first, each certified by the next, PEM. */
  chainPem: string;
}

const isSelfSigned = (certificate: X509Certificate): boolean => certificate.subject === certificate.issuer;

/** Asks who issued a certificate, of those that the files hold; each is looked for once. Throws a 400 when that takes too long. */
const createIssuerOf = (certificates: Found['certificates']) => {
  const bySubject = new Map<string, X509Certificate[]>();
  for (const { certificate } of certificates.values()) {
    if (isSelfSigned(certificate)) continue;
    const namesakes = bySubject.get(certificate.subject);
    if (namesakes) namesakes.push(certificate);
    else bySubject.set(certificate.subject, [certificate]);
  }
  const known = new Map<X509Certificate, X509Certificate | undefined>();
  let left = MOST_TRIES;
  const find = async (certificate: X509Certificate): Promise<X509Certificate | undefined> => {
    for (const one of bySubject.get(certificate.issuer) ?? []) {
      if (left <= 0) {
        throw refuse.invalid(
          'too many certificates here are called like an authority of others: give fewer files at once',
        );
      }
      left -= 1;
      await yieldToOthers();
      if (one !== certificate && certificate.checkIssued(one) && certificate.verify(one.publicKey)) return one;
    }
    return undefined;
  };
  return async (certificate: X509Certificate): Promise<X509Certificate | undefined> => {
    if (!known.has(certificate)) known.set(certificate, await find(certificate));
    return known.get(certificate);
  };
};

/** The chain that the files hold for a leaf, without its root: who trusts that has it. */
const chainOf = async (
  leaf: X509Certificate,
  issuerOf: ReturnType<typeof createIssuerOf>,
): Promise<X509Certificate[]> => {
  const chain = [leaf];
  while (chain.length < MAX_CHAIN) {
    const issuer = await issuerOf(chain.at(-1) ?? leaf);
    if (!issuer || chain.includes(issuer)) return chain;
    chain.push(issuer);
  }
  return chain;
};

/**
 * Whether it only certifies others. OpenSSL's "req -x509" calls a server's own certificate an authority's, too, unless it is told not to; but
 * that is for names.
 */
export const isAuthority = (certificate: X509Certificate): boolean =>
  certificate.ca && certificate.subjectAltName === undefined;

/**
 * Certificates with the keys that belong to them, by public key. Authorities that came along with their key are none of them. Others have their
 * turn meanwhile. Throws a 400 for files made so that it would take forever.
 */
export const pairUp = async ({ certificates, keys }: Found): Promise<Pair[]> => {
  const issuerOf = createIssuerOf(certificates);
  const pairs: Pair[] = [];
  for (const leaf of certificates.values()) {
    const key = keys.get(leaf.key);
    if (!key || isAuthority(leaf.certificate)) continue;
    pairs.push({ leaf, key, chainPem: (await chainOf(leaf.certificate, issuerOf)).map(String).join('') });
  }
  return pairs;
};
