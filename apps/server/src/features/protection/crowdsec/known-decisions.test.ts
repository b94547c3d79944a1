import { expect, test } from 'vitest';
import { createKnownDecisions } from './known-decisions.ts';
import type { LapiDecision } from './lapi.ts';
import { parseGoDuration } from './to-decision.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

const told = (id: number, value: string, duration: string, more: Partial<LapiDecision> = {}): LapiDecision => ({
  ...{ id, value, duration, scope: 'Ip', type: 'ban', scenario: 'x/probing', origin: 'crowdsec' },
  ...more,
});

test.each([
  ['3h59m58.5s', 14_398_500],
  ['1m0s', 60_000],
  ['250ms', 250],
  ['-2h0m1s', -7_201_000],
  ['7d', undefined],
  ['', undefined],
])('reads the duration %s', (text, ms) => {
  expect(parseGoDuration(text)).toBe(ms);
});

test('takes bans of addresses and networks, nothing else', () => {
  const added = [
    told(1, '203.0.113.7', '1h'),
    told(2, '2001:db8::1/32', '1h', { scope: 'Range' }),
    told(3, '203.0.113.8', '1h', { type: 'captcha' }),
    told(4, 'AS64500', '1h', { scope: 'AS' }),
    told(5, '203.0.113.9', '-1s'),
    told(6, 'nonsense', '1h'),
  ];
  const bans = createKnownDecisions().replace({ added, deleted: [] }, NOW);
  expect(bans.map(({ ip }) => ip)).toEqual(['203.0.113.7', '2001:db8::/32']);
  expect(bans[0]).toMatchObject({ expires_at: '2026-01-01T01:00:00.000Z', details: 'x/probing (crowdsec)' });
});

test('of several decisions about one network the longest counts, until it is deleted', () => {
  const known = createKnownDecisions();
  const [ban] = known.replace(
    { added: [told(1, '203.0.113.7', '4h'), told(2, '203.0.113.7', '1h')], deleted: [] },
    NOW,
  );
  expect(ban?.expires_at).toBe('2026-01-01T04:00:00.000Z');
  const shorter = known.update({ deleted: [told(1, '203.0.113.7', '-1s')], added: [] }, NOW);
  expect(shorter).toMatchObject({ remove: [], add: [{ expires_at: '2026-01-01T01:00:00.000Z' }] });
  const none = known.update({ deleted: [told(2, '203.0.113.7', '-1s')], added: [] }, NOW);
  expect(none).toEqual({ add: [], remove: ['203.0.113.7'] });
  expect(known.update({ deleted: [told(2, '203.0.113.7', '-1s')], added: [] }, NOW)).toEqual({ add: [], remove: [] });
});

test('what is told again with less time left is the same', () => {
  const known = createKnownDecisions();
  const before = known.replace({ added: [told(1, '203.0.113.7', '4h')], deleted: [] }, NOW);
  const later = NOW + 30_000;
  expect(known.replace({ added: [told(1, '203.0.113.7', '3h59m30.4s')], deleted: [] }, later)).toEqual(before);
  expect(known.update({ added: [told(1, '203.0.113.7', '3h59m29s')], deleted: [] }, later)).toEqual({
    add: [],
    remove: [],
  });
});

test('what is told again as ended has ended, however near its end was', () => {
  const known = createKnownDecisions();
  known.replace({ added: [told(1, '203.0.113.7', '3s'), told(2, '203.0.113.8', '3s')], deleted: [] }, NOW);
  expect(
    known.replace({ added: [told(1, '203.0.113.7', '-1s'), told(2, '203.0.113.8', '0s')], deleted: [] }, NOW),
  ).toEqual([]);
});

test('a decision that is deleted and made anew in one answer stays', () => {
  const known = createKnownDecisions();
  known.replace({ added: [told(1, '203.0.113.7', '1h')], deleted: [] }, NOW);
  const change = known.update({ deleted: [told(1, '203.0.113.7', '0s')], added: [told(2, '203.0.113.7', '2h')] }, NOW);
  expect(change).toMatchObject({ remove: [], add: [{ ip: '203.0.113.7' }] });
});
