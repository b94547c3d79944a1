import { expect, test } from 'vitest';
import { refuseStaticFiles, toFile, toFiles } from './uploaded.ts';

const file = (filename: string, content = 'x', encoding?: 'base64') =>
  ({ filename, content, ...(encoding && { encoding }) }) as Parameters<typeof toFile>[0];

test('a file in base64 is taken as that, and refused by its field when it is none', () => {
  expect(toFile(file('a', 'no base64!'), 'content')).toEqual({ name: 'a', content: 'no base64!' });
  for (const content of ['', 'AAAA', 'AA==', 'AAA=', '+/09'])
    expect(toFile(file('a', content, 'base64'), 'content')).toEqual({ name: 'a', content, encoding: 'base64' });
  for (const content of ['AAA', 'A===', 'AA=A', '-_AA', 'AAA\n', ' AAA', 'AAAA\nAAA']) {
    expect(() => toFile(file('a', content, 'base64'), 'content'), content).toThrow('content must be base64');
  }
});

test('of two files with one name the later is refused by its place', () => {
  expect(toFiles([file('a'), file('b')]).map(({ name }) => name)).toEqual(['a', 'b']);
  expect(() => toFiles([file('a'), file('b'), file('a')])).toThrow('files[2].filename is the name of an earlier file');
  expect(() => toFiles([file('a'), file('b', 'AAA', 'base64')])).toThrow('files[1].content must be base64');
});

test('directives that serve files are refused, the first five with their places', () => {
  expect(() => refuseStaticFiles([])).not.toThrow();
  const found = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ file: 'Caddyfile', line: at + 1, message: 'root' }));
  const details = (count: number): string => {
    try {
      refuseStaticFiles(found(count) as Parameters<typeof refuseStaticFiles>[0]);
    } catch (error) {
      expect(error).toMatchObject({ status: 400, warning: expect.stringContaining('Static file serving') });
      return (error as { details: string }).details;
    }
    return 'none';
  };
  expect(details(1)).toBe('root (Caddyfile:1)');
  expect(details(5)).toMatch(/^root \(Caddyfile:1\); .*; root \(Caddyfile:5\)$/);
  expect(details(7)).toMatch(/\(Caddyfile:5\); 2 more$/);
});
