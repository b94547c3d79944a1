import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { givenArena, textOf } from './given-arena.ts';
import { parseJson } from './json.ts';
import { maxNameBytes } from './sink.ts';

const parse = (body: Uint8Array | string, limits = { maxArguments: 1000, maxDepth: 100 }) => {
  const pairs: [string, string][] = [];
  const lists: string[] = [];
  const arena = givenArena();
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const facts = parseJson(
    bytes,
    { argument: (name, value) => pairs.push([textOf(name), textOf(value)]), list: (name) => lists.push(textOf(name)) },
    arena,
    limits,
  );
  return { pairs, lists, used: arena.used, ...facts };
};

test('names lists that hold scalars, once each', () => {
  const { lists } = parse('{"a__in":[{},"x","y"],"b":[[1],[{"c":[2]}]],"e":[],"o":[{}]}');
  expect(lists).toEqual(['json.a__in', 'json.b.array_0', 'json.b.array_1.array_0.c']);
});

test('names scalars as ModSecurity 3 does', () => {
  const { pairs, error } = parse('{"items":[{"sku":1},["a",[true]],null],"":{"x":false},"e":[],"é":"\\u00e9"}');
  expect(error).toBeNull();
  expect(pairs).toEqual([
    ['json.items.array_0.sku', '1'],
    ['json.items.array_1.array_0', 'a'],
    ['json.items.array_1.array_1.array_0', 'true'],
    ['json.items.array_2', ''],
    ['json.empty-key.x', 'false'],
    ['json.\xc3\xa9', '\xc3\xa9'],
  ]);
  expect(parse('"x"').pairs).toEqual([['json', 'x']]);
  expect(parse('[-1.5E+3]').pairs).toEqual([['json.array_0', '-1.5E+3']]);
});

test('hands over both of two equal keys', () => {
  expect(parse('{"a":1,"a":2}').pairs).toEqual([
    ['json.a', '1'],
    ['json.a', '2'],
  ]);
});

test('keeps what follows half a surrogate pair', () => {
  expect(parse('{"a":"\\ud83d\\u003cscript>"}').pairs).toEqual([['json.a', '?<script>']]);
  expect(parse('{"a":"\\ud83d\\ud83d\\ude00x"}').pairs[0]![1]).toBe(`?${Buffer.from('😀').toString('latin1')}x`);
});

test('decodes escapes, half a surrogate pair to a question mark', () => {
  expect(parse('"\\u003cscript\\u003E\\n\\/\\ud83d\\ude00\\ud800x\\udc00"').pairs[0]![1]).toBe(
    `<script>\n/${Buffer.from('😀').toString('latin1')}?x?`,
  );
});

test.each([
  ['', 'value expected at byte 0'],
  ['{"a":1', 'unterminated document at byte 6'],
  ['{"a":1}}', 'something behind the document at byte 7'],
  ["{'a':1}", 'key expected at byte 1'],
  ['[1,]', 'unexpected character'],
  ['[01]', 'comma expected'],
  ['[1.]', 'digits after the point'],
  ['"\\x41"', 'unknown escape'],
  ['"\\u00g0"', 'hexadecimal'],
  ['"a', 'unterminated string'],
  ['"a\\', 'unknown escape'],
])('%j is refused: %s', (text, reason) => {
  expect(parse(text).error).toContain(reason);
});

test('refuses bytes that are not UTF-8, and what came before is handed over', () => {
  const { pairs, error } = parse(Buffer.from('{"a":1,"b":"\xff"}', 'latin1'));
  expect(error).toContain('not UTF-8');
  expect(pairs).toEqual([['json.a', '1']]);
});

test.each<[sequence: number[], isSound: boolean]>([
  [[0xc1, 0xbf], false],
  [[0xc2, 0x80], true],
  [[0xdf, 0xbf], true],
  [[0xe0, 0x9f, 0xbf], false],
  [[0xe0, 0xa0, 0x80], true],
  [[0xe1, 0x80, 0x80], true],
  [[0xe1, 0xbf, 0xbf], true],
  [[0xed, 0x9f, 0xbf], true],
  [[0xed, 0xa0, 0x80], false],
  [[0xee, 0x80, 0x80], true],
  [[0xef, 0xbf, 0xbf], true],
  [[0xf0, 0x8f, 0xbf, 0xbf], false],
  [[0xf0, 0x90, 0x80, 0x80], true],
  [[0xf3, 0xbf, 0xbf, 0xbf], true],
  [[0xf4, 0x8f, 0xbf, 0xbf], true],
  [[0xf4, 0x90, 0x80, 0x80], false],
  [[0xf5, 0x80, 0x80, 0x80], false],
  [[0x80], false],
  [[0xe1, 0x80], false],
  [[0xe1, 0x80, 0x41], false],
])('takes %j for UTF-8: %s (RFC 3629)', (sequence, isSound) => {
  const bytes = Buffer.from(sequence);
  // In a string as it stands, and in one that is rewritten for its escape.
  for (const before of ['"', '"\\n']) {
    const { error, pairs } = parse(Buffer.concat([Buffer.from(before), bytes, Buffer.from('"')]));
    expect(error === null).toBe(isSound);
    if (isSound) expect(pairs[0]![1].endsWith(bytes.toString('latin1'))).toBe(true);
  }
});

test.each([
  '0041',
  '007f',
  '0080',
  '00e9',
  '07ff',
  '0800',
  '20ac',
  'd7ff',
  'e000',
  'ffff',
  'd800\\udc00',
  'dbff\\udfff',
])('writes \\u%s as UTF-8', (digits) => {
  const text = `"\\u${digits}"`;
  const wanted = Buffer.from(JSON.parse(text) as string).toString('latin1');
  expect(parse(text).pairs[0]![1]).toBe(wanted);
});

describe('limits', () => {
  test('depth', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;
    expect(parse(nested(100)).error).toBeNull();
    expect(parse(nested(101)).error).toContain('deeper than the limit');
    expect(parse('['.repeat(1_000_000)).error).toContain('deeper than the limit');
  });

  test('arguments', () => {
    const { pairs, error } = parse(`[${'1,'.repeat(1000)}1]`);
    expect(error).toContain('more arguments');
    expect(pairs).toHaveLength(1000);
  });

  test('length of names, which would multiply the body', () => {
    const key = 'k'.repeat(maxNameBytes);
    const { error, used } = parse(`{"a":1,"${key}":[${'1,'.repeat(900)}1]}`);
    expect(error).toContain('name too long');
    expect(used).toBeLessThan(100);
  });
});

/** JSON.parse's value as the arguments it must become. */
const flatten = (value: unknown, name = 'json'): [string, string][] => {
  if (Array.isArray(value)) return value.flatMap((item, index) => flatten(item, `${name}.array_${index}`));
  if (value !== null && typeof value === 'object') {
    return Object.entries(value).flatMap(([key, item]) => flatten(item, `${name}.${key === '' ? 'empty-key' : key}`));
  }
  const text = value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  return [[name, text].map((part) => Buffer.from(part).toString('latin1')) as [string, string]];
};

test('agrees with JSON.parse about documents', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      const { pairs, error } = parse(text);
      expect(error).toBeNull();
      // fast-check can repeat a key only by chance of __proto__, which JSON.parse treats as any other.
      expect(pairs).toEqual(flatten(JSON.parse(text)));
    }),
    { numRuns: 500 },
  );
});

test('agrees with JSON.parse about what is no document', () => {
  const piece = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"',
    '1',
    '-',
    '0',
    '.5',
    'e3',
    'true',
    'nul',
    ' ',
    '\\',
    '\\u0041',
    '\n',
    'é',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      const isJson = (() => {
        try {
          JSON.parse(text);
          return true;
        } catch {
          return false;
        }
      })();
      expect(parse(text).error === null).toBe(isJson);
    }),
    { numRuns: 5000 },
  );
});

test('takes any bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (body) => {
      const { used } = parse(body, { maxArguments: 20, maxDepth: 5 });
      expect(used).toBeLessThanOrEqual(20 * maxNameBytes + body.length);
    }),
    { numRuns: 2000 },
  );
});
