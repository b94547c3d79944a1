import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { Signer } from './account-key.ts';

const algorithmOf = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string => {
  if (asymmetricKeyType === 'rsa') return 'RS256';
  const curves: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384' };
  const algorithm = curves[asymmetricKeyDetails?.namedCurve ?? ''];
  if (algorithm === undefined) throw new TypeError('a certificate’s key is RSA, or EC on P-256 or P-384');
  return algorithm;
};

const publicPart = (key: KeyObject): JsonWebKey => {
  const { kty, crv, x, y, n, e }: JsonWebKey = createPublicKey(key).export({ format: 'jwk' });
  return kty === 'RSA' ? { kty, n: n ?? '', e: e ?? '' } : { kty: kty ?? '', crv: crv ?? '', x: x ?? '', y: y ?? '' };
};

/**
 * The key of a certificate, PEM, as one that signs: who has it may have the certificate revoked (RFC 8555, section 7.6). Throws a `TypeError` for
 * other types than ours.
 */
export const readCertificateKey = (pem: string): Signer => {
  const key = createPrivateKey(pem);
  const alg = algorithmOf(key);
  const jwk = publicPart(key);
  return {
    async sign(payload, { url, nonce }) {
      const { FlattenedSign } = await import('jose');
      const bytes = new TextEncoder().encode(JSON.stringify(payload));
      return JSON.stringify(await new FlattenedSign(bytes).setProtectedHeader({ alg, url, nonce, jwk }).sign(key));
    },
  };
};
