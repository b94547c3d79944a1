import { expect, test } from 'vitest';
import { alternateUrls } from './alternates.ts';

const base = 'https://ca.example/certificate/1';

test.for([
  ['<https://ca.example/certificate/1/alternate>;rel="alternate"', ['https://ca.example/certificate/1/alternate']],
  [
    '<https://ca.example/dir>;rel="index", <https://ca.example/c/2>; title="x"; REL=alternate',
    ['https://ca.example/c/2'],
  ],
  ['<2>; rel=alternate,<3>;rel="alternate"', ['https://ca.example/certificate/2', 'https://ca.example/certificate/3']],
  ['<https://ca.example/c/2>;rel="alternates"', []],
  ['<https://ca.example/c/2>', []],
  ['https://ca.example/c/2; rel=alternate', []],
  ['<http://[>;rel=alternate', []],
  ['', []],
  [null, []],
] as const)('%s', ([header, urls]) => {
  expect(alternateUrls(header, base)).toEqual(urls);
});

test('a few of many, and no time is lost on nonsense', () => {
  expect(alternateUrls(Array(50).fill('</a>;rel=alternate').join(), base)).toHaveLength(4);
  expect(alternateUrls(`${'<'.repeat(100_000)}`, base)).toEqual([]);
  // Nor is what comes after more than any header should have.
  expect(alternateUrls(`${' '.repeat(16_384)}</a>;rel=alternate`, base)).toEqual([]);
  expect(alternateUrls(`<a>${';rel=alternate'.repeat(10_000)}`, base).length).toBeLessThan(2);
});
