import { expect, test } from 'vitest';
import { endToEnd, toRawHeaders, withoutHeaders } from './headers.ts';

test('drops what belongs to one connection and what is named, keeps order, case and repetition', () => {
  const flat = [
    'Host',
    'a',
    'X-A',
    '1',
    'Transfer-Encoding',
    'chunked',
    'x-a',
    '2',
    'CONNECTION',
    'x-a',
    'X-Ours',
    'y',
  ];
  expect(endToEnd(flat, new Set(['x-ours']))).toEqual(['Host', 'a', 'X-A', '1', 'x-a', '2']);
});

test('gRPC is told that trailers are understood; other transfer codings are not offered', () => {
  expect(endToEnd(['TE', 'trailers', 'te', 'gzip'], new Set())).toEqual(['TE', 'trailers']);
});

test('gives the engine bytes', () => {
  const flat = withoutHeaders(['X', '\u00e9', 'Y', 'z'], new Set(['y']));
  expect(toRawHeaders(flat)).toEqual([[Buffer.from('X'), Buffer.from([0xe9])]]);
});
