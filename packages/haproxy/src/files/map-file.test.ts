import { expect, test } from 'vitest';
import { mapFileChunks } from './map-file.ts';

const text = (...entries: [string, string][]): string => [...mapFileChunks(['what it is'], entries)].join('');

test('has a line for each entry', () => {
  expect(text(['2001:db8::/32', '1'], ['*.a.test', '1|192.0.2.1|80||1 x'])).toBe(
    '# what it is\n2001:db8::/32 1\n*.a.test 1|192.0.2.1|80||1 x\n',
  );
});

test.each([
  ['192.0.2.7\n', '1'],
  ['192.0.2.7 ok\n0.0.0.0/0', 'ok'],
  [' 192.0.2.7', '1'],
  ['192.0.2.7\t', '1'],
  ['#192.0.2.7', '1'],
  ['', '1'],
  ['192.0.2.7', ''],
  ['192.0.2.7', 'manual/x\n0.0.0.0/0 ok'],
  ['192.0.2.7', 'x\r'],
  ['192.0.2.7', 'x\0'],
] as [string, string][])('takes no entry that would be another line: %j %j', (key, value) => {
  expect(() => text([key, value])).toThrow('not a line of a map');
});

test('a large one is never one string', () => {
  const entries = Array.from({ length: 10_000 }, (_, index): [string, string] => [`host-${index}.test`, 'x']);
  const chunks = [...mapFileChunks([], entries)];
  expect(chunks.length).toBeGreaterThan(2);
  expect(chunks.length).toBeLessThan(10);
  expect(chunks.join('')).toBe(entries.map(([key, value]) => `${key} ${value}\n`).join(''));
});
