import { randomBytes } from 'node:crypto';
import { hashSecret } from '@sallyport/store/secrets/hash-secret';
import { toBase32 } from './codes.ts';

const CODES = 10;

/** Ten codes of 80 random bits, written `xxxx-xxxx-xxxx-xxxx`. */
export const newRecoveryCodes = (): Promise<string[]> =>
  Promise.all(
    Array.from({ length: CODES }, async () => {
      const code = await toBase32(randomBytes(10));
      return (code.toLowerCase().match(/.{4}/g) ?? []).join('-');
    }),
  );

/** Hash to store of a code, however it is written. With 80 random bits a plain hash can't be searched. */
export const hashRecoveryCode = (code: string): string => hashSecret(code.toLowerCase().replaceAll(/[^a-z2-7]/g, ''));
