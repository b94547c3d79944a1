import { Refusal } from '@sallyport/store/errors';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDuration } from './duration.ts';

test.each([
  ['90s', 90_000],
  ['15m', 900_000],
  ['4h', 14_400_000],
  ['7d', 604_800_000],
  ['2w', 1_209_600_000],
  ['1h30m', 5_400_000],
  [' 4h ', 14_400_000],
])('reads %j', (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});

test.each(['', '4', 'h', '4 h', '-4h', '4h-', '0s', '4.5h', '4H', '1000000000w', '999999999w', 'forever', '4h\n5m'])(
  'refuses %j',
  (text) => {
    expect(() => parseDuration(text)).toThrow(Refusal);
  },
);

test('adds the parts, whatever they are', () => {
  const part = fc.tuple(fc.integer({ min: 1, max: 1_000 }), fc.constantFrom('s', 'm', 'h', 'd', 'w'));
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 6 }), (parts) => {
      const alone = parts.map(([count, unit]) => parseDuration(`${count}${unit}`));
      const together = parts.map(([count, unit]) => `${count}${unit}`).join('');
      expect(parseDuration(together)).toBe(alone.reduce((sum, ms) => sum + ms, 0));
    }),
  );
});
