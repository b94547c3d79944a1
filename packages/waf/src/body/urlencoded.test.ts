import fc from 'fast-check';
import { expect, test } from 'vitest';
import { givenArena, textOf } from './given-arena.ts';
import { parseUrlencoded } from './urlencoded.ts';

const parse = (text: string, separator = '&', maxArguments = 1000) => {
  const body = Buffer.from(text, 'latin1');
  const pairs: [string, string][] = [];
  const facts = parseUrlencoded(
    body,
    0,
    body.length,
    separator.charCodeAt(0),
    { argument: (name, value) => pairs.push([textOf(name), textOf(value)]) },
    givenArena(),
    { maxArguments, maxDepth: 10 },
  );
  return { pairs, ...facts };
};

test('splits at separators and first equals signs, and decodes both sides', () => {
  expect(parse('a=1&b=%41+c&&=x&d&e=1=2&f%20g=h&').pairs).toEqual([
    ['a', '1'],
    ['b', 'A c'],
    ['', 'x'],
    ['d', ''],
    ['e', '1=2'],
    ['f g', 'h'],
  ]);
  expect(parse('a=1;b=2&3', ';').pairs).toEqual([
    ['a', '1'],
    ['b', '2&3'],
  ]);
});

test('keeps and counts invalid encodings', () => {
  expect(parse('%zz=%4&a=%&b=%41')).toMatchObject({
    invalidEncodings: 3,
    pairs: [
      ['%zz', '%4'],
      ['a', '%'],
      ['b', 'A'],
    ],
  });
});

test('an encoding does not reach over its piece', () => {
  expect(parse('a=%4&1').pairs).toEqual([
    ['a', '%4'],
    ['1', ''],
  ]);
});

test('stops at the limit and says so', () => {
  expect(parse('a&b&c', '&', 2)).toMatchObject({
    isTruncated: true,
    pairs: [
      ['a', ''],
      ['b', ''],
    ],
  });
  expect(parse('a&b', '&', 2)).toMatchObject({ isTruncated: false });
});

test('reads what URLSearchParams writes', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 8 }), (pairs) => {
      const read = parse(new URLSearchParams(pairs).toString()).pairs;
      const utf8 = (value: string) => Buffer.from(value).toString('latin1');
      expect(read).toEqual(pairs.map(([name, value]) => [utf8(name), utf8(value)]));
    }),
  );
});

test('takes any bytes, and gives no more than it took', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (body) => {
      let given = 0;
      parseUrlencoded(
        body,
        0,
        body.length,
        0x26,
        { argument: (name, value) => (given += name.end - name.start + value.end - value.start) },
        givenArena(),
        { maxArguments: 50, maxDepth: 10 },
      );
      expect(given).toBeLessThanOrEqual(body.length);
    }),
  );
});
