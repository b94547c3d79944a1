import { expect, test } from 'vitest';
import { createCountryOf, keptOf, toCode } from './country-of.ts';

test('an address without a country is told from one that nobody asked about, and neither has a code', () => {
  const countryOf = createCountryOf((ip) => (ip === '192.0.2.1' ? 'DE' : null));
  expect(['192.0.2.1', '192.0.2.2', 'unix'].map(countryOf)).toEqual(['DE', '-', '-']);
  expect(createCountryOf(() => 'DE')('unix')).toBe('-');
  expect(createCountryOf(undefined)('192.0.2.1')).toBe('');
  expect(['DE', '-', ''].map(toCode)).toEqual(['DE', null, null]);
  expect([keptOf('de'), keptOf('unknown')]).toEqual([['DE'], ['', '-']]);
});
