import { expect, test } from 'vitest';
import { FileSet } from './file-set.ts';

const setOf = (...names: string[]) => new FileSet(names.map((name) => ({ name, content: '' })));
const found = (set: FileSet, path: string) => set.find(path).map(({ name }) => name);

test('a file is found by as much of its path as it has, and the one that fits in most parts is meant', () => {
  const set = setOf('a.conf', 'sites/a.conf', 'other/a.conf', 'C:\\etc\\b.conf', './c.conf');
  expect(found(set, '/etc/nginx/sites/a.conf')).toEqual(['sites/a.conf']);
  expect(found(set, '/etc/nginx/else/a.conf')).toEqual(['a.conf']);
  expect(found(set, '../a.conf')).toEqual(['a.conf', 'other/a.conf', 'sites/a.conf']);
  expect(found(set, '/etc/b.conf')).toEqual(['C:\\etc\\b.conf']);
  expect(found(set, '/etc/c.conf')).toEqual(['./c.conf']);
  expect([found(set, 'A.conf'), found(set, ''), found(set, '/'), found(set, 'conf')]).toEqual([[], [], [], []]);
});

test('patterns are those of a shell, and everything else stands for itself', () => {
  const set = setOf('a.conf', 'ab.conf', 'a+b.conf', 'axconf', 'b.conf', '^.conf', 'dir/x.conf');
  expect(found(set, 'a*.conf')).toEqual(['a+b.conf', 'a.conf', 'ab.conf']);
  expect(found(set, 'a?.conf')).toEqual(['ab.conf']);
  expect(found(set, '?.conf')).toEqual(['^.conf', 'a.conf', 'b.conf', 'dir/x.conf']);
  expect(found(set, '[ab].conf')).toEqual(['a.conf', 'b.conf']);
  expect(found(set, '[!ab].conf')).toEqual(['^.conf', 'dir/x.conf']);
  expect(found(set, '[^].conf')).toEqual(['^.conf']);
  expect(found(set, 'a+b.conf')).toEqual(['a+b.conf']);
  expect(found(set, 'd*/x.conf')).toEqual(['dir/x.conf']);
  expect(found(set, 'e*/x.conf')).toEqual([]);
  expect(found(set, '[b-a].conf')).toEqual([]);
});

test('a pattern that would take forever means nothing', () => {
  const set = setOf('a'.repeat(200));
  expect(found(set, '*a*a*a*a')).toHaveLength(1);
  expect(found(set, `${'*'.repeat(50)}a`)).toEqual([]);
  expect(found(set, '*a*a*a*a*a*a')).toEqual([]);
  expect(found(setOf('x'), `${'?'.repeat(256)}`)).toEqual([]);
});

test('a directory has the files right in it, and those of whom nobody knows where they were', () => {
  const set = setOf('live/a.test/key.pem', 'live/b.test/key.pem', 'a.test/deep/key.pem', 'key.pem');
  const below = (path: string) => set.below(path).map(({ name }) => name);
  expect(below('/etc/letsencrypt/live/a.test')).toEqual(['live/a.test/key.pem', 'key.pem']);
  expect(below('b.test/')).toEqual(['live/b.test/key.pem', 'key.pem']);
  expect(below('nowhere')).toEqual(['key.pem']);
});

test('looking costs by how many files there are, and once', () => {
  const set = setOf(...Array.from({ length: 20 }, (_, n) => `${n}.conf`));
  expect(set.costOf('1.conf')).toBe(3);
  set.find('1.conf');
  expect([set.costOf('1.conf'), set.costOf('2.conf')]).toEqual([1, 3]);
});
