import type { X509Certificate } from 'node:crypto';
import type { Found, FoundCertificate, FoundKey } from './read-files.ts';

/** Leaf and authorities; TLS clients read no more. */
const MAX_CHAIN = 10;

export interface Pair {
  leaf: FoundCertificate;
  key: FoundKey;
  /** Leaf first, each certified by the next, PEM. */
  chainPem: string;
}

const isSelfSigned = (certificate: X509Certificate): boolean => certificate.subject === certificate.issuer;

/** The longest chain that the files hold for a leaf, without its root: who trusts that has it. */
const chainOf = (leaf: X509Certificate, bySubject: ReadonlyMap<string, X509Certificate[]>): X509Certificate[] => {
  const chain = [leaf];
  while (chain.length < MAX_CHAIN) {
    const last = chain.at(-1) ?? leaf;
    const issuer = (bySubject.get(last.issuer) ?? []).find(
      (one) => !chain.includes(one) && !isSelfSigned(one) && last.checkIssued(one) && last.verify(one.publicKey),
    );
    if (!issuer) return chain;
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

/** Certificates with the keys that belong to them, by public key. Authorities that came along with their key are none of them. */
export const pairUp = ({ certificates, keys }: Found): Pair[] => {
  const bySubject = new Map<string, X509Certificate[]>();
  for (const { certificate } of certificates.values()) {
    const namesakes = bySubject.get(certificate.subject);
    if (namesakes) namesakes.push(certificate);
    else bySubject.set(certificate.subject, [certificate]);
  }
  const pairs: Pair[] = [];
  for (const leaf of certificates.values()) {
    const key = keys.get(leaf.key);
    if (!key || isAuthority(leaf.certificate)) continue;
    pairs.push({ leaf, key, chainPem: chainOf(leaf.certificate, bySubject).map(String).join('') });
  }
  return pairs;
};
