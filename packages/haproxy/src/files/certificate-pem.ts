import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

/** A certificate that HAProxy could not serve; the message is for the operator and holds nothing secret. */
export class InvalidCertificate extends Error {
  override name = 'InvalidCertificate';
}

const blockPattern = /-----BEGIN ([A-Z0-9 ]+)-----\r?\n[\s\S]*?-----END \1-----/g;

const readCertificate = (pem: string): X509Certificate => {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new InvalidCertificate('the certificate cannot be read');
  }
};

const readKey = (pem: string): KeyObject => {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new InvalidCertificate('the private key cannot be read');
  }
};

// OpenSSL's security level 2 (Debian's default) refuses weaker ones, and with them HAProxy's whole start.
const minRsaBits = 2_048;

/**
 * Takes leaf, chain and key in any order and returns them as HAProxy wants them: leaf, chain, key (PKCS #8), no empty line,
 * nothing else; with the leaf's SHA-1 fingerprint in upper-case hex. Throws InvalidCertificate.
 */
export const normalizeCertificatePem = (pem: string): { pem: string; fingerprint: string } => {
  const certificates: string[] = [];
  const keys: string[] = [];
  for (const [block, label = ''] of pem.matchAll(blockPattern)) {
    const text = block.replace(/\r/g, '').replace(/\n{2,}/g, '\n');
    if (label === 'CERTIFICATE') certificates.push(text);
    else if (label.endsWith('PRIVATE KEY')) keys.push(text);
  }
  const [keyPem, ...otherKeys] = keys;
  if (keyPem === undefined || otherKeys.length > 0) throw new InvalidCertificate('exactly one private key is needed');
  if (keyPem.includes('ENCRYPTED')) throw new InvalidCertificate('the private key is encrypted');
  const key = readKey(keyPem);
  const parsed = certificates.map(readCertificate);
  const leaf = parsed.find((certificate) => certificate.checkPrivateKey(key));
  if (!leaf) throw new InvalidCertificate('no certificate belongs to the private key');
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && bits < minRsaBits)
    throw new InvalidCertificate(`an RSA key needs at least ${minRsaBits} bits`);
  const chain = parsed.filter((candidate) => candidate !== leaf);
  return {
    // Written anew: OpenSSL reads more, such as tabs, than a payload of the runtime API may hold.
    pem: [...[leaf, ...chain].map(String), key.export({ type: 'pkcs8', format: 'pem' })].join(''),
    fingerprint: leaf.fingerprint.replaceAll(':', ''),
  };
};
