import { createPrivateKey, X509Certificate } from 'node:crypto';
import { AcmeProtocolError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import { normaliseName } from '../names/certificate-name.ts';

const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** Names and addresses of subjectAltName, normalised. Node quotes those that have a comma or a quote; none of ours does. */
const namesOf = (leaf: X509Certificate): Set<string> =>
  new Set(
    (leaf.subjectAltName ?? '')
      .split(', ')
      .map((entry) => /^(?:DNS|IP Address):(.+)$/.exec(entry)?.[1])
      .filter((name) => name !== undefined)
      .map(normaliseName),
  );

const parseChain = (text: string, url: string): X509Certificate[] => {
  const blocks = text.match(BLOCK) ?? [];
  // RFC 8555, section 9.1: nothing but certificates. A key in there would be somebody's.
  if (blocks.length === 0 || text.replace(BLOCK, '').trim() !== '') {
    throw new AcmeProtocolError(url, 'the answer is not a chain of certificates, or has something else in it');
  }
  if (blocks.length > limits.chainCertificates) {
    throw new AcmeProtocolError(url, `the chain has more than ${limits.chainCertificates} certificates`);
  }
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      throw new AcmeProtocolError(url, `certificate ${index + 1} of the chain can not be parsed`, { cause });
    }
  });
};

/** What the certificate has been ordered for. */
export interface Ordered {
  names: readonly string[];
  /** The key whose request went to the CA. */
  keyPem: string;
}

export interface Chain {
  /** Leaf first, PEM. */
  pem: string;
  /** Common names of whoever signed the last one, and of the last one itself. */
  roots: readonly string[];
}

const commonName = (subject: string | undefined): string => /^CN=(.+)$/m.exec(subject ?? '')?.[1] ?? '';

/**
 * Reads the chain that a CA has answered with, and checks that its leaf is for that key and all those names, still valid, and certified
 * by what follows. Throws `AcmeProtocolError` for anything else.
 */
export const readChain = (text: string, { names, keyPem }: Ordered, url: string, now: Date): Chain => {
  const chain = parseChain(text, url);
  const [leaf] = chain;
  const last = chain.at(-1);
  if (!leaf || !last) throw new AcmeProtocolError(url, 'the chain is empty');
  if (!leaf.checkPrivateKey(createPrivateKey(keyPem))) {
    throw new AcmeProtocolError(url, 'the certificate is for another key than the one that was sent');
  }
  const covered = namesOf(leaf);
  const missing = names.filter((name) => !covered.has(normaliseName(name)));
  if (missing.length > 0) {
    throw new AcmeProtocolError(url, `the certificate is not for ${missing.slice(0, 5).join(', ')}, which was ordered`);
  }
  if (leaf.ca) throw new AcmeProtocolError(url, 'the certificate is one of an authority');
  if (leaf.validToDate <= now) throw new AcmeProtocolError(url, 'the certificate has expired already');
  chain.slice(1).forEach((issuer, index) => {
    const subject = chain[index];
    if (subject?.checkIssued(issuer) && subject.verify(issuer.publicKey)) return;
    throw new AcmeProtocolError(url, `certificate ${index + 2} of the chain has not issued the one before it`);
  });
  return { pem: chain.map(String).join(''), roots: [commonName(last.issuer), commonName(last.subject)] };
};
