import { describe, expect, test } from 'vitest';
import { DIRECTORIES } from '../../accounts/directories.ts';
import { type Asked, checkLimits, type LedgerQuestion, LimitReached, limitsOf, registeredDomainsOf } from './limits.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const limits = { perDomain: 3, perNames: 2, perAccount: 4, failures: 2 };

const asked = (agoMs: number, more: Partial<Asked> = {}): Asked => ({
  accountUrl: 'https://ca/1',
  names: ['a.example.com'],
  registeredDomains: ['example.com'],
  isRenewal: false,
  outcome: 'issued',
  at: new Date(now.getTime() - agoMs),
  ...more,
});
const refusal = (before: Asked[], more: Partial<LedgerQuestion> = {}): LimitReached | undefined => {
  try {
    checkLimits({
      asked: before,
      limits,
      accountUrl: 'https://ca/1',
      names: ['a.example.com'],
      registeredDomains: ['example.com'],
      isRenewal: false,
      now,
      ...more,
    });
    return undefined;
  } catch (error) {
    if (error instanceof LimitReached) return error;
    throw error;
  }
};

describe('an order is refused before the authority would', () => {
  test('for exactly the same names in any order, until the oldest is a week old', () => {
    const names = ['b.example.com', 'a.example.com'];
    const before = [asked(3 * DAY_MS, { names }), asked(2 * DAY_MS, { names })];
    const refused = refusal(before, { names: ['a.example.com', 'b.example.com'] });
    expect(refused?.message).toMatch(/^2 certificates for exactly these names .* possible again at 2026-11-26T12:00/);
    expect(refused?.until).toEqual(new Date(now.getTime() + 4 * DAY_MS));
    expect(refusal(before)).toBeUndefined();
    expect(refusal([asked(8 * DAY_MS), asked(DAY_MS)])).toBeUndefined();
  });

  test('for one registered domain, whatever the names below it', () => {
    const before = [1, 2, 3].map((day) => asked(day * DAY_MS, { names: [`${day}.example.com`] }));
    expect(refusal(before)?.message).toMatch(/^3 certificates for example\.com/);
    expect(refusal(before, { registeredDomains: ['example.org'] })).toBeUndefined();
    expect(refusal(before.map((one) => ({ ...one, outcome: 'failed' as const })))).toBeUndefined();
  });

  test('of an account that has made too many within three hours', () => {
    const before = [1, 2, 3, 4].map((day) =>
      asked(HOUR_MS, { names: [`${day}.test`], registeredDomains: [`${day}.test`], outcome: 'refused' }),
    );
    expect(refusal(before)?.until).toEqual(new Date(now.getTime() + 2 * HOUR_MS));
    expect(refusal(before, { accountUrl: 'https://ca/2' })).toBeUndefined();
  });

  test('for a name whose validation failed too often within an hour, also when it is a renewal', () => {
    const before = [asked(HOUR_MS / 2, { outcome: 'failed' }), asked(HOUR_MS / 4, { outcome: 'failed' })];
    expect(refusal(before)?.until).toEqual(new Date(now.getTime() + HOUR_MS / 2));
    expect(refusal(before, { isRenewal: true })?.message).toMatch(/validation of a\.example\.com failed 2 times/);
    expect(refusal(before, { names: ['b.example.com'] })).toBeUndefined();
    // Their orders are counted by themselves.
    const failed = Array.from({ length: 4 }, () => asked(HOUR_MS / 2, { names: ['b.example.com'], outcome: 'failed' }));
    expect(refusal(failed)).toBeUndefined();
  });

  test('but not for what a clock that ran a year ahead has noted', () => {
    const ahead = [1, 2, 3, 4].map((day) => asked(-365 * DAY_MS - day));
    expect(refusal(ahead)).toBeUndefined();
    expect(refusal(ahead.map((one) => ({ ...one, outcome: 'failed' as const })))).toBeUndefined();
    // Clocks of two nodes differ a little.
    expect(refusal([asked(-1_000), asked(-2_000)])).toBeInstanceOf(LimitReached);
  });

  test('but a renewal by ARI is exempt, and counts for nothing', () => {
    const many = [1, 2, 3, 4].map((day) => asked(day * DAY_MS));
    expect(refusal(many)).toBeInstanceOf(LimitReached);
    expect(refusal(many, { isRenewal: true })).toBeUndefined();
    expect(refusal(many.map((one) => ({ ...one, isRenewal: true })))).toBeUndefined();
  });
});

test("Let's Encrypt's limits are known; a private authority's are not", () => {
  expect(limitsOf(DIRECTORIES.letsencrypt)).toEqual({ perDomain: 50, perNames: 5, perAccount: 300, failures: 5 });
  expect(limitsOf('https://ca.internal/acme')).toBeUndefined();
});

test('registered domains are those of the Public Suffix List', async () => {
  const names = ['a.b.example.co.uk', '*.example.com', 'example.com', 'me.github.io', '192.0.2.1', 'com'];
  expect(await registeredDomainsOf(names)).toEqual([
    '192.0.2.1',
    'com',
    'example.co.uk',
    'example.com',
    'me.github.io',
  ]);
});
