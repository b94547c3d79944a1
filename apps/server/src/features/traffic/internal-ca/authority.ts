import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { isAddress, type KeyType, loadX509, makeCertificateKey, x509KeysOf } from '@sallyport/acme';

const DAY_MS = 86_400_000;
/** Clocks of clients may be behind ours. */
const BACKDATE_MS = 3_600_000;
const ROOT_YEARS = 10;
const LEAF_DAYS = 30;
/** X.520 allows no more characters in a common name (RFC 5280, appendix A). */
const MAX_COMMON_NAME = 64;

export interface Authority {
  rootPem: string;
  /** PKCS #8 PEM. */
  keyPem: string;
}

/** 127 random bits; positive, and never shorter than it says (RFC 5280, section 4.1.2.2). */
const serialNumber = (): string => {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes.toString('hex');
};

const inYears = (from: Date, years: number): Date => {
  const to = new Date(from);
  to.setUTCFullYear(to.getUTCFullYear() + years);
  return to;
};

/** What a list of trusted roots calls it: whose it is, and which one when that had several. */
const commonNameOf = (place: string): string => {
  const which = ` ${randomBytes(2).toString('hex')}`;
  return `Sallyport CA of ${place}`.slice(0, MAX_COMMON_NAME - which.length) + which;
};

/** Makes the root of a deployment that is called `place`, with a key of its own on P-256, for ten years. */
export const makeAuthority = async (place: string, now: Date): Promise<Authority> => {
  const x509 = await loadX509();
  const keyPem = await makeCertificateKey('p256');
  const { algorithm, ...keys } = x509KeysOf(keyPem);
  const { keyCertSign, cRLSign } = x509.KeyUsageFlags;
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ O: ['Sallyport'] }, { CN: [commonNameOf(place)] }],
    notBefore: new Date(now.getTime() - DAY_MS),
    notAfter: inYears(now, ROOT_YEARS),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      // It signs leafs and no other authority. No name constraints: none of them could allow names of one label.
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { rootPem: `${root.toString('pem')}\n`, keyPem };
};

export interface LeafRequest {
  /** Normalised DNS names and addresses. */
  names: readonly string[];
  keyType: KeyType;
}

/**
 * Signs a leaf of 30 days for a new key; never longer than the root lasts. Returns the leaf alone: who trusts the root has it. Throws
 * an `Error` when the root has expired.
 */
export const issueLeaf = async (
  { rootPem, keyPem: rootKeyPem }: Authority,
  { names, keyType }: LeafRequest,
  now: Date,
): Promise<{ chainPem: string; keyPem: string }> => {
  const x509 = await loadX509();
  const root = new x509.X509Certificate(rootPem);
  if (root.notAfter <= now) throw new Error(`the root expired on ${root.notAfter.toISOString()}`);
  const keyPem = await makeCertificateKey(keyType);
  const { publicKey } = x509KeysOf(keyPem);
  const signer = x509KeysOf(rootKeyPem);
  const { digitalSignature, keyEncipherment } = x509.KeyUsageFlags;
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    issuer: root.subjectName,
    notBefore: new Date(now.getTime() - BACKDATE_MS),
    notAfter: new Date(Math.min(now.getTime() + LEAF_DAYS * DAY_MS, root.notAfter.getTime())),
    publicKey,
    signingKey: signer.privateKey,
    signingAlgorithm: signer.algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      // With RSA, TLS 1.2 has handshakes that encrypt with the key.
      new x509.KeyUsagesExtension(
        keyType.startsWith('rsa') ? digitalSignature | keyEncipherment : digitalSignature,
        true,
      ),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(
        names.map((value) => ({ type: isAddress(value) ? ('ip' as const) : ('dns' as const), value })),
        // RFC 5280, section 4.2.1.6: critical, since the subject is empty.
        true,
      ),
      await x509.AuthorityKeyIdentifierExtension.create(root.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return { chainPem: `${leaf.toString('pem')}\n`, keyPem };
};

/** Throws an `Error` unless it is an authority that can sign: a root, and its key. */
export const checkAuthority = ({ rootPem, keyPem }: Authority): void => {
  const root = new X509Certificate(rootPem);
  if (!root.ca || !root.checkPrivateKey(createPrivateKey(keyPem))) {
    throw new Error('the root and its key are no authority');
  }
};

/** What is shown of a root. */
export const describeRoot = (rootPem: string): { subject: string; sha256: string; notAfter: Date } => {
  const { subject, fingerprint256, validToDate } = new X509Certificate(rootPem);
  return { subject: subject.replaceAll('\n', ', '), sha256: fingerprint256, notAfter: validToDate };
};
