import { expect, test } from 'vitest';
import { readDer } from './der.ts';

const read = (...bytes: (number | Buffer)[]) =>
  readDer(Buffer.concat(bytes.map((one) => (typeof one === 'number' ? Buffer.of(one) : one)))).map(
    ({ tag, content }) => [tag, content.length],
  );
const zeros = (length: number) => Buffer.alloc(length);

test('values follow each other, whatever form their lengths have', () => {
  expect(read()).toEqual([]);
  expect(read(0x05, 0, 0x04, 2, zeros(2))).toEqual([
    [0x05, 0],
    [0x04, 2],
  ]);
  expect(read(0x04, 0x7f, zeros(0x7f))).toEqual([[0x04, 0x7f]]);
  expect(read(0x04, 0x81, 0x80, zeros(0x80), 0x05, 0)).toEqual([
    [0x04, 0x80],
    [0x05, 0],
  ]);
  expect(read(0x04, 0x82, 1, 0, zeros(256))).toEqual([[0x04, 256]]);
  expect(read(0x04, 0x84, 0, 0, 0, 1, 7)).toEqual([[0x04, 1]]);
});

test('what is cut short, or no DER, is refused', () => {
  for (const cut of [[0x04], [0x04, 2, 0], [0x04, 0x82, 1], [0x05, 0, 0x04, 1]]) {
    expect(() => read(...cut)).toThrow(RangeError);
  }
  // Without a length of its own, and with one of five bytes.
  expect(() => read(0x04, 0x80, 0, 0)).toThrow('a length that is not DER');
  expect(() => read(0x04, 0x85, 0, 0, 0, 0, 1, 7)).toThrow('a length that is not DER');
});
