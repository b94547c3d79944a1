import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AddressWords, parseAddress } from './ip-address.ts';

/** What is read of a text that has this at either end: none of it is part of the address. */
const wordsOf = (text: string, around = ':'): { family: number; words: number[] } => {
  const words: AddressWords = new Uint32Array(4);
  const bytes = Buffer.from(`${around}${text}${around}`, 'latin1');
  const family = parseAddress(bytes, 1, bytes.length - 1, words);
  return { family, words: [...words] };
};

/** Short pieces of addresses, and what stands between them, so that many are addresses and most are nearly. */
const piece = fc.constantFrom(
  '0',
  '1',
  '9',
  '10',
  '127',
  '255',
  '256',
  '01',
  '00',
  'a',
  'F',
  'ffff',
  '12345',
  '::',
  ':',
  ':',
  ':',
  '.',
  '.',
  '.',
  '',
);
const anything = fc.array(piece, { maxLength: 17 }).map((pieces) => pieces.join(''));
const group = fc.constantFrom('0', '1', 'ab', 'FFFF', '0db8', '12345', '');
const grouped = fc
  .tuple(
    fc.array(group, { maxLength: 8 }),
    fc.array(group, { maxLength: 8 }),
    fc.constantFrom('::', ':', ''),
    fc.constantFrom('', ':192.0.2.1', '192.0.2.1', ':1.2.3'),
  )
  .map(([before, after, gap, end]) => before.join(':') + gap + after.join(':') + end);
const quad = fc
  .array(fc.integer({ min: 0, max: 300 }), { minLength: 3, maxLength: 5 })
  .map((octets) => octets.join('.'));

test('what is an address to Node is one here, and nothing else', () => {
  let known = 0;
  fc.assert(
    fc.property(fc.oneof(anything, grouped, quad), (text) => {
      const { family } = wordsOf(text);
      if (family !== 0) known++;
      expect([text, family !== 0]).toEqual([text, isIP(text) !== 0]);
      for (const around of ['1', 'f', '.']) expect(wordsOf(text, around).family).toBe(family);
    }),
    { seed: 20_261_122, numRuns: 20_000 },
  );
  // The comparison was about something.
  expect(known).toBeGreaterThan(1_000);
});

test('an address is the same one in every spelling', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(0, 0, 0, 1, 0xffff, 0xab), { minLength: 8, maxLength: 8 }), (groups) => {
      const whole = groups.map((one) => one.toString(16)).join(':');
      const short = new URL(`http://[${whole}]`).hostname.slice(1, -1);
      const padded = groups.map((one) => one.toString(16).toUpperCase().padStart(4, '0')).join(':');
      expect(wordsOf(short)).toEqual(wordsOf(whole));
      expect(wordsOf(padded)).toEqual(wordsOf(whole));
    }),
    { seed: 20_261_122, numRuns: 2_000 },
  );
  expect(wordsOf('::ffff:192.0.2.1')).toEqual(wordsOf('192.0.2.1'));
  expect(wordsOf('::ffff:c000:201')).toEqual(wordsOf('192.0.2.1'));
  expect(wordsOf('192.0.2.2')).not.toEqual(wordsOf('192.0.2.1'));
});
