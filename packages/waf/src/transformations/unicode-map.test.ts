import { expect, test } from 'vitest';
import { parseUnicodeMap, US_ASCII_MAP } from './unicode-map.ts';
import { createUrlDecodeUni } from './url-decode.ts';

const file = '20127 (US-ASCII)\n00e9:65 ff1c:3c \n\n28591 (ISO)\n0100:41\n';

test('reads the code page it is asked for', () => {
  expect(parseUnicodeMap(file, 20127)[0xff1c]).toBe(0x3c);
  expect(parseUnicodeMap(file, 20127)[0x100]).toBe(-1);
  expect(parseUnicodeMap(file, 28591)[0x100]).toBe(0x41);
});

test('names the code page or the pair that is wrong', () => {
  expect(() => parseUnicodeMap(file, 2012)).toThrow('code page 2012 ');
  expect(() => parseUnicodeMap('1250\n00e9=65\n', 1250)).toThrow('"00e9=65"');
  expect(() => parseUnicodeMap('1250\n\n', 1250)).toThrow('no pairs');
});

test('the built-in US-ASCII table maps full-width forms and look-alikes', () => {
  const text = [0xff1c, 0x2019, 0x201c, 0xe9, 0x2212].map((code) => US_ASCII_MAP[code]);
  expect(text).toEqual([0x3c, 0x27, 0x22, 0x65, -1]);
});

test('without a map %uHHHH falls to its low byte, full-width forms to ASCII', () => {
  const input = Buffer.from('%u2019%uff1c');
  const out = new Uint8Array(input.length);
  const written = createUrlDecodeUni(null).apply(input, 0, input.length, out, 0);
  expect(Buffer.from(out.subarray(0, written)).toString('latin1')).toBe('\x19<');
});
