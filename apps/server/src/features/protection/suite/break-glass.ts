import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN_BYTES = 32;

/** Makes a token of 64 hexadecimal digits. */
export const generateToken = (): string => randomBytes(TOKEN_BYTES).toString('hex');

/** What is stored of a token. It is random, so a plain hash can't be turned back. */
export const hashToken = (token: string): string => createHash('sha256').update(token, 'utf8').digest('hex');

/** Compares a token with the stored hash in constant time; the hashes are of one length whatever was sent. */
export const isToken = (token: string, storedHash: string): boolean =>
  timingSafeEqual(Buffer.from(hashToken(token.trim()), 'hex'), Buffer.from(storedHash, 'hex'));
