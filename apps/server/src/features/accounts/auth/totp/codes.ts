import { randomBytes } from 'node:crypto';
import type { TotpSecret } from '@sallyport/contract';
import type { Secret } from 'otpauth';

const STEP_SECONDS = 30;
const SECRET_BYTES = 20;
/** Steps before and after the present one that are accepted, for clocks that differ (RFC 6238, section 5.2). */
const WINDOW = 1;
/** What every authenticator app knows; some ignore anything else, and show wrong codes. */
const KIND = { algorithm: 'SHA1', digits: 6, period: STEP_SECONDS } as const;

// Loaded with its first use: most deployments sign in without it.
const loadOtpauth = () => import('otpauth');

const toSecret = async (bytes: Uint8Array): Promise<Secret> => {
  const { Secret } = await loadOtpauth();
  // A Buffer may be a part of a larger one, which is not the secret.
  return new Secret({ buffer: Uint8Array.from(bytes).buffer });
};

/** Base32 without padding (RFC 4648, section 6), as authenticator apps take it. */
export const toBase32 = async (bytes: Uint8Array): Promise<string> => (await toSecret(bytes)).base32;

export const newTotpSecret = (): Buffer => randomBytes(SECRET_BYTES);

/** The secret as somebody types it, and as a link that authenticator apps read from a QR code. */
export const describeSecret = async (bytes: Uint8Array, email: string): Promise<TotpSecret> => {
  const { TOTP } = await loadOtpauth();
  const secret = await toSecret(bytes);
  return {
    secret: secret.base32,
    otpauth_url: new TOTP({ ...KIND, issuer: 'Sallyport', label: email, secret }).toString(),
  };
};

/**
 * Returns the time step (RFC 6238, section 4.2) that `code` belongs to, or undefined when it is wrong. Only steps after
 * `lastStep` count: a code that was used, or one older than it, is worth nothing to whoever looked over the shoulder.
 */
export const acceptTotp = async (
  bytes: Uint8Array,
  code: string,
  lastStep: number,
  now: Date,
): Promise<number | undefined> => {
  const token = code.replaceAll(' ', '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const { TOTP } = await loadOtpauth();
  const secret = await toSecret(bytes);
  const delta = TOTP.validate({ ...KIND, secret, token, timestamp: now.getTime(), window: WINDOW });
  if (delta === null) return undefined;
  const step = TOTP.counter({ period: STEP_SECONDS, timestamp: now.getTime() }) + delta;
  return step > lastStep ? step : undefined;
};
