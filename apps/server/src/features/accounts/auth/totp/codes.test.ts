import { describe, expect, test } from 'vitest';
import { shownCode } from '../../../../testing/authenticator.ts';
import { acceptTotp, describeSecret, newTotpSecret, toBase32 } from './codes.ts';

/** RFC 6238, appendix B: time, and the last six digits of its codes for SHA-1. */
const VECTORS: [number, string][] = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
];
/** RFC 4226, appendix D: the codes of the counters 0 to 9. */
const FIRST_CODES = '755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' ');
const seed = Buffer.from('12345678901234567890');
const stepOf = (moment: Date) => Math.floor(moment.getTime() / 30_000);

describe('one-time codes', () => {
  test('have a secret of 160 bits, another one each time', () => {
    const secrets = [newTotpSecret(), newTotpSecret()].map((secret) => [secret.length, secret.toString('hex')]);
    expect(secrets.map(([length]) => length)).toEqual([20, 20]);
    expect(secrets[0]).not.toEqual(secrets[1]);
  });

  test.each(VECTORS)('are those of RFC 6238 at %i', async (seconds, code) => {
    const now = new Date(seconds * 1000);
    expect(await acceptTotp(seed, code, 0, now)).toBe(stepOf(now));
  });

  test('are those of RFC 4226, appendix D', async () => {
    const at = (counter: number) => new Date(counter * 30_000);
    const steps = await Promise.all(FIRST_CODES.map((code, counter) => acceptTotp(seed, code, -1, at(counter))));
    expect(steps).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('are accepted one step early or late, and never twice', async () => {
    const now = new Date(1_800_000_000_000);
    const step = stepOf(now);
    const secret = await toBase32(seed);
    const code = (offset: number) => shownCode(secret, new Date(now.getTime() + offset * 30_000));
    for (const offset of [-1, 0, 1]) expect(await acceptTotp(seed, code(offset), 0, now)).toBe(step + offset);
    for (const offset of [-2, 2]) expect(await acceptTotp(seed, code(offset), 0, now)).toBeUndefined();
    expect(await acceptTotp(seed, code(0), step, now)).toBeUndefined();
    expect(await acceptTotp(seed, code(-1), step, now)).toBeUndefined();
    expect(await acceptTotp(seed, code(1), step, now)).toBe(step + 1);
    // As some apps show it.
    const spaced = `${code(0).slice(0, 3)} ${code(0).slice(3)} `;
    expect(await acceptTotp(seed, spaced, 0, now)).toBe(step);
    for (const bad of ['', '12345', '1234567', 'abcdef', '１２３４５６']) {
      expect(await acceptTotp(seed, bad, 0, now)).toBeUndefined();
    }
  });

  test('have secrets in base32 (RFC 4648, section 10)', async () => {
    const texts = ['f', 'fo', 'foo', 'foob', 'fooba', 'foobar'];
    const encoded = await Promise.all(texts.map((text) => toBase32(Buffer.from(text))));
    expect(encoded).toEqual(['MY', 'MZXQ', 'MZXW6', 'MZXW6YQ', 'MZXW6YTB', 'MZXW6YTBOI']);
  });

  test('come by a link that says how they are made', async () => {
    const { secret, otpauth_url } = await describeSecret(seed, 'ann+one@example.com');
    expect(secret).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
    const url = new URL(otpauth_url);
    expect(url.href).toMatch(/^otpauth:\/\/totp\/Sallyport:ann%2Bone%40example\.com\?/);
    const expected = { secret, issuer: 'Sallyport', algorithm: 'SHA1', digits: '6', period: '30' };
    expect(Object.fromEntries(url.searchParams)).toEqual(expected);
  });
});
