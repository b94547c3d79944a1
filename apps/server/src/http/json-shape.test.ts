import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findShapeProblem } from './json-shape.ts';

test.each([
  ['{"a":1,"a":2}', 'a'],
  ['{"a":{"b":1,"c":2,"b":3}}', 'b'],
  ['[{"x":1},{"y":1,"y":1}]', 'y'],
  ['{"password":"one","pass\\u0077ord":"two"}', 'password'],
  ['{"":1,"":2}', ''],
  ['{ "a" : [ {"a":1} , 2 ] , "b":{}, "a" : null }', 'a'],
  ['{"a\\"b":1,"a\\"b":2}', 'a"b'],
  ['{"a\\\\":1,"a\\\\":2}', 'a\\'],
])('finds the key that stands twice in %s', (text, key) => {
  JSON.parse(text);
  expect(findShapeProblem(text)).toEqual({ kind: 'duplicate_key', key });
});

test.each([
  '{"a":"a","b":"a"}',
  '[{"a":1},{"a":1}]',
  '{"a":{"a":{"a":1}}}',
  '"a\\"a"',
  '["a","a"]',
  '{"a":["a","b","a"],"b":1}',
])('accepts %s', (text) => {
  expect(findShapeProblem(text)).toBeUndefined();
});

test('refuses nesting without end and stands a megabyte of it', () => {
  expect(findShapeProblem(`${'['.repeat(500_000)}${']'.repeat(500_000)}`)).toEqual({ kind: 'too_deep' });
  expect(findShapeProblem(`${'['.repeat(64)}${']'.repeat(64)}`)).toBeUndefined();
});

test('finds nothing in what JSON.stringify writes, and the double in what was doubled', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.string(), (value, key) => {
      const text = JSON.stringify(value);
      expect(findShapeProblem(text)).toBeUndefined();
      const name = JSON.stringify(key);
      expect(findShapeProblem(`{${name}:${text},"between":1,${name}:${text}}`)).toEqual({
        kind: 'duplicate_key',
        // A generated key may be the one between.
        key,
      });
    }),
  );
});
