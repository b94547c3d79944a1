import { expect, test } from 'vitest';
import { isCountry } from './countries.ts';

test('knows the 249 countries of the standard and Kosovo, and what ICU knows as a region of two letters', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const codes = letters.flatMap((first) => letters.map((second) => first + second)).filter(isCountry);
  expect(codes).toHaveLength(250);
  const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  for (const code of codes) expect(names.of(code), code).toBeTruthy();
});

test.each(['UK', 'EU', 'ZZ', 'XX', 'AN', 'SU', 'de', 'A1', ''])('%s is none', (code) => {
  expect(isCountry(code)).toBe(false);
});
