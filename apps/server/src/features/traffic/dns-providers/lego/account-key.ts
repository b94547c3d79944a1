import { createHash, createPrivateKey, createPublicKey, type KeyObject, verify } from 'node:crypto';

/** An account's key in the forms that lego, and whoever checks what it signs, need. */
export interface AccountKey {
  /** As lego reads it: SEC 1 or PKCS #1, in PEM. */
  pem: string;
  publicKey: KeyObject;
  /** RFC 7638. */
  thumbprint: string;
}

const canonical = ({ kty, crv, x, y, e, n }: Record<string, unknown>): string =>
  JSON.stringify(kty === 'EC' ? { crv, kty, x, y } : { e, kty, n });

/** Reads the key of an account. Throws an `Error` for one that lego can't hold: it knows ECDSA and RSA. */
export const readAccountKey = (accountKeyPem: string): AccountKey => {
  const key = createPrivateKey(accountKeyPem);
  const type = key.asymmetricKeyType;
  if (type !== 'ec' && type !== 'rsa') throw new Error(`lego takes accounts with ECDSA or RSA keys, not ${type}`);
  const publicKey = createPublicKey(key);
  const jwk = publicKey.export({ format: 'jwk' }) as Record<string, unknown>;
  const pem = key.export({ format: 'pem', type: type === 'ec' ? 'sec1' : 'pkcs1' }) as string;
  return { pem, publicKey, thumbprint: createHash('sha256').update(canonical(jwk)).digest('base64url') };
};

/** The value of the TXT record that proves a challenge (RFC 8555, section 8.4). */
export const recordValue = (token: string, { thumbprint }: Pick<AccountKey, 'thumbprint'>): string =>
  createHash('sha256').update(`${token}.${thumbprint}`).digest('base64url');

const HASHES: Readonly<Record<string, string>> = { ES256: 'sha256', ES384: 'sha384', ES512: 'sha512', RS256: 'sha256' };

/** What the holder of a key has signed (RFC 7515, flattened): its payload. Undefined when it is not theirs. */
export const openSigned = (body: string, publicKey: KeyObject): string | undefined => {
  try {
    const { protected: head, payload, signature } = JSON.parse(body) as Record<string, string>;
    if (head === undefined || payload === undefined || signature === undefined) return undefined;
    const { alg } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { alg: string };
    const hash = HASHES[alg];
    if (hash === undefined) return undefined;
    const signed = Buffer.from(`${head}.${payload}`);
    const isTheirs = verify(
      hash,
      signed,
      { key: publicKey, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    );
    return isTheirs ? Buffer.from(payload, 'base64url').toString() : undefined;
  } catch {
    return undefined;
  }
};
