import { expect, test } from 'vitest';
import { createReader, unreadable } from './read.ts';

const read = createReader();
const upload = (content: string) => read([{ name: 'Caddyfile', content }]);

test('whatever is uploaded ends in a reading, in the order in which it came', async () => {
  const [braces, garbage, fine] = await Promise.all([
    upload('{'.repeat(100_000)),
    upload('\u{1f4a9} "\\ {$x} } '.repeat(100_000)),
    upload('a.example.com {\n\treverse_proxy 127.0.0.1:9\n}\n'),
  ]);
  for (const bad of [braces, garbage]) {
    expect(bad).toMatchObject({ hosts: 0 });
    expect(bad?.errors).toBeGreaterThan(0);
    expect(bad?.text.length).toBeLessThan(5_000_000);
  }
  expect(fine).toMatchObject({ source: 'caddyfile', hosts: 1, errors: 0 });
});

test('more sites than can be committed at once are refused before anybody reviews them', async () => {
  const sites = Array.from({ length: 50_001 }, (_, index) => `h${index}.test {\nreverse_proxy b\n}\n`).join('');
  const { text, hosts, errors } = await upload(sites);
  expect({ hosts, errors }).toEqual({ hosts: 0, errors: 1 });
  expect(JSON.parse(text).errors[0].message).toContain('50000 sites');
}, 120_000);

test('an upload that can not be read at all is one error, in its first file', () => {
  const error = { line: 1, column: 1, message: 'no' };
  const outcome = (file: string) => ({
    text: JSON.stringify({ hosts: [], warnings: [], staticFiles: [], errors: [{ file, ...error }] }),
    ...{ source: null, hosts: 0, errors: 1, staticFiles: [] },
  });
  expect(unreadable([{ name: 'a', content: '' }], 'no')).toEqual(outcome('a'));
  expect(unreadable([], 'no')).toEqual(outcome(''));
});
