import { describe, expect, test } from 'vitest';
import { checkAgainAt, isInWindow, renewableFrom, renewalByLifetime, renewalInWindow } from './renewal-times.ts';

const DAY_MS = 86_400_000;
const notBefore = new Date('2026-11-22T00:00:00.000Z');
const inDays = (days: number) => new Date(notBefore.getTime() + days * DAY_MS);

describe.each([6, 47, 90, 398])('a certificate of %i days', (days) => {
  const daysIn = (random: number) =>
    (renewalByLifetime({ notBefore, notAfter: inDays(days) }, random).getTime() - notBefore.getTime()) / DAY_MS;

  test('is renewed at two thirds of its time, a twentieth earlier at most', () => {
    expect(daysIn(0)).toBeCloseTo((days * 2) / 3);
    expect(daysIn(1)).toBeCloseTo((days * 2) / 3 - days / 20);
  });

  test('rests before it is renewed again, and not so long that a revocation is missed', () => {
    const restMs = renewableFrom({ notBefore, notAfter: inDays(days) }, inDays(1)).getTime() - inDays(1).getTime();
    expect(restMs).toBe(Math.min(days * DAY_MS * 0.05, DAY_MS / 2));
  });

  test('can be tried for many times before it expires', () => {
    expect(days - daysIn(0)).toBeGreaterThanOrEqual(2);
  });
});

describe('a window that the authority proposes', () => {
  const window = { start: inDays(10), end: inDays(12) };

  test('has the renewal at a random moment in it', () => {
    expect(renewalInWindow(window, inDays(1), 0)).toEqual(inDays(10));
    expect(renewalInWindow(window, inDays(1), 0.5)).toEqual(inDays(11));
    expect(renewalInWindow(window, inDays(1), 1)).toEqual(inDays(12));
  });

  test('that is over, or turned round, means now', () => {
    expect(renewalInWindow(window, inDays(20), 0.5)).toEqual(inDays(20));
    expect(renewalInWindow({ start: inDays(12), end: inDays(10) }, inDays(13), 1)).toEqual(inDays(13));
  });

  test('keeps a moment in it that was chosen before', () => {
    expect(isInWindow(inDays(11), window)).toBe(true);
    expect(isInWindow(inDays(13), window)).toBe(false);
    expect(isInWindow(null, window)).toBe(false);
  });
});

test('the authority is asked again when it wants, within a minute and a day; by itself every six hours', () => {
  const hours = (retryAfter?: Date) =>
    (checkAgainAt(notBefore, retryAfter).getTime() - notBefore.getTime()) / 3_600_000;
  expect(hours()).toBe(6);
  expect(hours(inDays(0.25))).toBe(6);
  expect(hours(inDays(-1))).toBeCloseTo(1 / 60);
  expect(hours(inDays(400))).toBe(24);
});
