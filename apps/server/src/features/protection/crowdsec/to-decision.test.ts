import { expect, test } from 'vitest';
import { isBanOfOthers, isOfOthers, parseGoDuration, toDecision } from './to-decision.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const told = (more: object = {}) => ({
  ...{
    id: 1,
    scope: 'Ip',
    type: 'ban',
    value: '198.51.100.1',
    duration: '1h0m0s',
    scenario: 'x/probing',
    origin: 'crowdsec',
  },
  ...more,
});

test.each([
  ['1h', 3_600_000],
  ['2m', 120_000],
  ['1h2m3.5s', 3_723_500],
  ['1h3s', 3_603_000],
  ['1h1ms', 3_600_001],
  ['500µs', 0.5],
  ['500us', 0.5],
  ['7ns', 0],
  ['-1h', -3_600_000],
  ['-3.5s', -3_500],
  ['1d', undefined],
  ['x1h', undefined],
  ['1hx', undefined],
  ['1h 2m', undefined],
  ['x1s', undefined],
  ['1sx', undefined],
])('%s lasts %s ms', (text, ms) => {
  expect(parseGoDuration(text)).toBe(ms);
});

test('a ban is told by network, scenario and origin, and until when', () => {
  expect(toDecision(told(), NOW)).toEqual({
    ip: '198.51.100.1',
    details: 'x/probing (crowdsec)',
    expires_at: '2026-01-01T01:00:00.000Z',
  });
  expect(toDecision(told({ scope: 'RANGE', value: '198.51.100.9/24' }), NOW)?.ip).toBe('198.51.100.0/24');
  expect(toDecision(told({ scenario: undefined, origin: undefined }), NOW)?.details).toBe('');
  expect(toDecision(told({ origin: '' }), NOW)?.details).toBe('x/probing');
});

test.each([
  { type: 'captcha' },
  { scope: 'Country', value: 'DE' },
  { value: 'nonsense' },
  { duration: '0s' },
  { duration: '-1s' },
  { duration: 'soon' },
])('%j is no ban', (more) => expect(toDecision(told(more), NOW)).toBeUndefined());

test('dates end somewhere, and a long scenario leaves room for its origin', () => {
  expect(toDecision(told({ duration: '876000h0m0s' }), NOW)?.expires_at).toBe('2035-12-30T00:00:00.000Z');
  const { details = '' } = toDecision(told({ scenario: 's'.repeat(1_000), origin: 'lists' }), NOW) ?? {};
  expect(details).toBe(`${'s'.repeat(400)} (lists)`);
  expect(isBanOfOthers({ details })).toBe(true);
  expect(toDecision(told({ origin: 'o'.repeat(600) }), NOW)?.details).toHaveLength(500);
});

test.each([
  ['CAPI', true],
  ['lists', true],
  ['crowdsec', false],
  ['cscli', false],
  ['xlists', false],
  ['', false],
])('origin %j is of a list of others: %s', (origin, is) => {
  expect(isOfOthers({ origin })).toBe(is);
  expect(isBanOfOthers({ details: `x/probing (${origin})` })).toBe(is);
  // Only at the end: a scenario may be named so.
  expect(isBanOfOthers({ details: `(${origin}) x` })).toBe(false);
});
