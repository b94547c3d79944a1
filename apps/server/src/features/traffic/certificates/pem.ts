import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { refuse } from '@sallyport/store/errors';
import { parseCertificateName } from './names.ts';

/** A certificate with its key, checked to belong together. */
export interface CertificatePair {
  /** Leaf first, each certified by the next, PEM. */
  chainPem: string;
  /** PKCS #8 PEM. */
  keyPem: string;
  /** Normalised DNS names and addresses of the leaf. */
  names: string[];
  notBefore: Date;
  notAfter: Date;
}

/** What the two are called where they came from, for who is told what is wrong with them. */
export interface Called {
  certificate: string;
  key: string;
}

const UPLOADED: Called = { certificate: 'certificate_file', key: 'key_file' };
/** For who gave no form. */
export const IN_WORDS: Called = { certificate: 'the certificate', key: 'the key' };

const CERTIFICATE_BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const MAX_CHAIN = 10;
const MAX_NAMES = 200;

const readChain = (text: string, called: string): X509Certificate[] => {
  const blocks = text.match(CERTIFICATE_BLOCK);
  if (!blocks) throw refuse.invalid(`${called} is not a PEM certificate`);
  if (blocks.length > MAX_CHAIN) throw refuse.invalid(`${called} holds more than ${MAX_CHAIN} certificates`);
  const certificates = blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw refuse.invalid(`${called}: certificate ${index + 1} can not be parsed`);
    }
  });
  // Chains put together by hand often hold one twice.
  return [...new Map(certificates.map((certificate) => [certificate.fingerprint256, certificate])).values()];
};

/** OpenSSL's security level 2 (Debian's default) serves no weaker ones. */
const MIN_RSA_BITS = 2_048;
/** What TLS 1.2 and 1.3 clients of today can verify: the curves by their OpenSSL names. */
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1'];

/** A key that no client could use is refused here: HAProxy would take some of them, and fail every handshake. */
const checkKeyKind = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject, called: string): void => {
  switch (asymmetricKeyType) {
    case 'rsa':
    case 'rsa-pss':
      if ((asymmetricKeyDetails?.modulusLength ?? 0) >= MIN_RSA_BITS) return;
      throw refuse.invalid(`${called}: an RSA key needs at least ${MIN_RSA_BITS} bits`);
    case 'ec':
      if (CURVES.includes(asymmetricKeyDetails?.namedCurve ?? '')) return;
      throw refuse.invalid(`${called}: an EC key must be on the curve P-256, P-384 or P-521`);
    case 'ed25519':
    case 'ed448':
      return;
    default:
      throw refuse.invalid(`${called}: the key must be RSA, EC, Ed25519 or Ed448`);
  }
};

/** By what nobody believes signatures any more: object identifiers (RFC 8017, RFC 5758), and what people call them. */
const WEAK_SIGNATURES: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.2': 'MD2',
  '1.2.840.113549.1.1.3': 'MD4',
  '1.2.840.113549.1.1.4': 'MD5',
  '1.2.840.113549.1.1.5': 'SHA-1',
  '1.2.840.10045.4.1': 'SHA-1',
  // An older name of the same.
  '1.3.14.3.2.29': 'SHA-1',
};

const isSelfSigned = (certificate: X509Certificate): boolean =>
  certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);

/** HAProxy does not serve them (OpenSSL's security level 2, as above). What a certificate says of itself proves nothing in any case. */
const checkSignatures = (chain: readonly X509Certificate[], called: string): void => {
  for (const certificate of chain) {
    const weak = WEAK_SIGNATURES[certificate.signatureAlgorithmOid];
    if (weak === undefined || isSelfSigned(certificate)) continue;
    const name = certificate.subject.replaceAll('\n', ', ');
    throw refuse.invalid(`${called}: the certificate of ${name} is signed with ${weak}, which is not served any more`);
  }
};

const readKey = (text: string, called: string): KeyObject => {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(text)) {
    throw refuse.invalid(`${called} is encrypted; upload the key without a passphrase`);
  }
  if (!/-----BEGIN (?:RSA |EC )?PRIVATE KEY-----/.test(text)) {
    throw refuse.invalid(`${called} is not a PEM private key`);
  }
  try {
    return createPrivateKey(text);
  } catch {
    throw refuse.invalid(`${called} can not be parsed as a private key`);
  }
};

/** Puts the chain in the order TLS sends it, whatever the order in the file; certificates that don't belong are refused. */
const orderChain = (leaf: X509Certificate, rest: readonly X509Certificate[], called: string): X509Certificate[] => {
  const chain = [leaf];
  const remaining = [...rest];
  while (remaining.length > 0) {
    const last = chain.at(-1) ?? leaf;
    const next = remaining.findIndex((candidate) => last.checkIssued(candidate) && last.verify(candidate.publicKey));
    if (next < 0) throw refuse.invalid(`${called} holds a certificate that is not part of the chain`);
    chain.push(...remaining.splice(next, 1));
  }
  return chain;
};

/** One name of subjectAltName as Node writes it, quoted where it has a comma or a quote: nothing within another one is a name. */
const ALTERNATIVE_NAME = /([^:]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;

/** DNS names and addresses of subjectAltName (RFC 6125: the common name counts only when there are none). */
const namesOf = (leaf: X509Certificate, called: string): string[] => {
  const listed = [...(leaf.subjectAltName ?? '').matchAll(ALTERNATIVE_NAME)];
  const fromSan = listed.filter(([, kind]) => kind === 'DNS' || kind === 'IP Address');
  const commonName = /^CN=(.+)$/m.exec(leaf.subject)?.[1];
  const candidates = fromSan.length > 0 ? fromSan.map(([, , name = '']) => name) : [commonName ?? ''];
  const names = new Set<string>();
  for (const candidate of candidates) {
    try {
      names.add(parseCertificateName(candidate));
    } catch {
      // A label with other characters, or words in a common name: TLS clients never ask for it by server name.
    }
  }
  if (names.size === 0) throw refuse.invalid(`${called} names no DNS name and no address`);
  if (names.size > MAX_NAMES) throw refuse.invalid(`${called} names more than ${MAX_NAMES} names`);
  return [...names];
};

const readPair = (certificateText: string, keyText: string, called: Called) => {
  const certificates = readChain(certificateText, called.certificate);
  const key = readKey(keyText, called.key);
  const leaf = certificates.find((certificate) => certificate.checkPrivateKey(key));
  if (!leaf) throw refuse.invalid(`${called.key} does not match the certificate`);
  checkKeyKind(key, called.key);
  const others = certificates.filter((certificate) => certificate !== leaf);
  const chain = orderChain(leaf, others, called.certificate);
  const pair: CertificatePair = {
    chainPem: chain.map(String).join(''),
    keyPem: key.export({ type: 'pkcs8', format: 'pem' }) as string,
    names: namesOf(leaf, called.certificate),
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
  };
  return { pair, chain };
};

/**
 * Reads a certificate chain and its private key that may have been stored by an earlier version, which looked at no signatures, and checks that
 * they belong together. Throws a 400 as `parseCertificatePair` does.
 */
export const parseStoredPair = (certificateText: string, keyText: string): CertificatePair =>
  readPair(certificateText, keyText, IN_WORDS).pair;

/**
 * Reads a certificate chain and its private key, and checks that they belong together and can be served. Throws a 400 that says which of
 * them is wrong, as it is `called` (by default the fields of an upload), and why.
 */
export const parseCertificatePair = (
  certificateText: string,
  keyText: string,
  called: Called = UPLOADED,
): CertificatePair => {
  const { pair, chain } = readPair(certificateText, keyText, called);
  checkSignatures(chain, called.certificate);
  return pair;
};
