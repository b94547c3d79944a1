import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const STEP_SECONDS = 30;
const DIGITS = 6;
const SECRET_BYTES = 20;
/** Steps before and after the present one that are accepted, for clocks that differ (RFC 6238, section 5.2). */
const WINDOW = 1;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Base32 without padding (RFC 4648, section 6), as authenticator apps take it. */
export const toBase32 = (bytes: Uint8Array): string => {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{1,5}/g) ?? []).map((part) => BASE32[Number.parseInt(part.padEnd(5, '0'), 2)]).join('');
};

/** HOTP (RFC 4226, section 5.3) for a counter. */
export const hotp = (secret: Uint8Array, counter: number, digits: number, hash = 'sha1'): string => {
  const message = Buffer.alloc(8);
  message.writeBigUInt64BE(BigInt(counter));
  const mac = createHmac(hash, secret).update(message).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** digits).padStart(digits, '0');
};

/** The time step of a moment (RFC 6238, section 4.2). */
export const stepOf = (moment: Date): number => Math.floor(moment.getTime() / 1000 / STEP_SECONDS);

export const newTotpSecret = (): Buffer => randomBytes(SECRET_BYTES);

/** Link that authenticator apps read from a QR code. */
export const otpauthUrl = (secret: Uint8Array, email: string): string =>
  `otpauth://totp/${encodeURIComponent(`Sallyport:${email}`)}?${new URLSearchParams({
    secret: toBase32(secret),
    issuer: 'Sallyport',
    algorithm: 'SHA1',
    digits: String(DIGITS),
    period: String(STEP_SECONDS),
  })}`;

/**
 * Returns the time step that `code` belongs to, or undefined when it is wrong. Only steps after `lastStep` count:
 * a code that was used, or one older than it, is worth nothing to whoever looked over the shoulder.
 */
export const acceptTotp = (secret: Uint8Array, code: string, lastStep: number, now: Date): number | undefined => {
  const digits = code.replaceAll(' ', '');
  if (!/^\d{6}$/.test(digits)) return undefined;
  const given = Buffer.from(digits);
  let accepted: number | undefined;
  for (let step = stepOf(now) - WINDOW; step <= stepOf(now) + WINDOW; step += 1) {
    const isEqual = timingSafeEqual(given, Buffer.from(hotp(secret, step, DIGITS)));
    if (isEqual && step > lastStep) accepted ??= step;
  }
  return accepted;
};
