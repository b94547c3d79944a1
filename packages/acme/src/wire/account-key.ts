import { createHash, createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { AcmeProtocolError } from '../model/errors.ts';

/** A key that signs requests. */
export interface Signer {
  /** A JWS in the flattened form that ACME wants (RFC 8555, section 6.2), as JSON. An undefined payload makes a POST-as-GET. */
  sign(payload: unknown, header: { url: string; nonce: string; kid?: string }): Promise<string>;
}

/** An account's key: signs requests, and proves who answers challenges. */
export interface AccountKey extends Signer {
  jwk: { kty: string; crv: string; x: string; y: string };
  /** What a challenge with this token expects (RFC 8555, section 8.1). */
  keyAuthorization(token: string): Promise<string>;
}

// Loaded with the first request: who orders no certificate has it not in memory.
const loadJose = () => import('jose');

const readKey = (pem: string): KeyObject => {
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    // Without its cause, which may repeat a part of the key.
    throw new TypeError('the account’s key is no PEM private key');
  }
  if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') {
    throw new TypeError('the account’s key is not an EC key on P-256');
  }
  return key;
};

const publicPart = (key: KeyObject): AccountKey['jwk'] => {
  const { kty = '', crv = '', x = '', y = '' }: JsonWebKey = createPublicKey(key).export({ format: 'jwk' });
  return { kty, crv, x, y };
};

/** Reads an account's key, PKCS #8 PEM on P-256; throws a `TypeError` for anything else. */
export const readAccountKey = (pem: string): AccountKey => {
  const key = readKey(pem);
  const jwk = publicPart(key);
  return {
    jwk,
    async sign(payload, { url, nonce, kid }) {
      const { FlattenedSign } = await loadJose();
      const bytes = new TextEncoder().encode(payload === undefined ? '' : JSON.stringify(payload));
      const header = { alg: 'ES256', url, nonce, ...(kid === undefined ? { jwk } : { kid }) };
      return JSON.stringify(await new FlattenedSign(bytes).setProtectedHeader(header).sign(key));
    },
    async keyAuthorization(token) {
      const { calculateJwkThumbprint } = await loadJose();
      return `${token}.${await calculateJwkThumbprint(jwk)}`;
    },
  };
};

/** The value of the TXT record that answers `dns-01` (RFC 8555, section 8.4). */
export const recordValue = (keyAuthorization: string): string =>
  createHash('sha256').update(keyAuthorization).digest('base64url');

const HMAC_KEY = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** Why an HMAC key can't be one; base64url as RFC 8555 says, or the base64 that some CAs show. */
export const hmacKeyProblem = (hmacKey: string): string | undefined => {
  if (hmacKey === '') return 'is empty';
  if (!HMAC_KEY.test(hmacKey)) return 'is not base64url';
  return Buffer.from(hmacKey, 'base64url').length === 0 ? 'is too short' : undefined;
};

/** Binds an account's key to an account that its owner has with the CA (RFC 8555, section 7.3.4). */
export const bindExternally = async (
  { jwk }: AccountKey,
  { kid, hmacKey }: { kid: string; hmacKey: string },
  url: string,
): Promise<object> => {
  const problem = hmacKeyProblem(hmacKey);
  if (problem !== undefined) throw new AcmeProtocolError(url, `the HMAC key of the external account ${problem}`);
  const { FlattenedSign } = await loadJose();
  return new FlattenedSign(new TextEncoder().encode(JSON.stringify(jwk)))
    .setProtectedHeader({ alg: 'HS256', kid, url })
    .sign(Buffer.from(hmacKey, 'base64url'));
};
