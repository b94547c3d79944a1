import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../test/support/temporary-directory.ts';
import { type Kept, readKept, writeKept } from './file.ts';

const NOW = 1_800_000_000_000;
const counters = { requests: { '1xx': 0, '2xx': 5, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 }, bytesIn: 1, bytesOut: 2 };
const kept = (at = NOW): Kept => ({
  last: { at, process: 'one', counters },
  minutes: [[30_000_000, [5, 0, 0, 1, 2]]],
});

test('what was written is read, also by a clock that goes a minute slower', () =>
  withTemporaryDirectory(async (dataDir) => {
    expect(await readKept(dataDir, NOW)).toBeUndefined();
    for (const ahead of [0, 60_000]) {
      await writeKept(dataDir, kept(NOW + ahead));
      expect(await readKept(dataDir, NOW)).toEqual(kept(NOW + ahead));
    }
    await writeKept(dataDir, kept(NOW + 60_001));
    expect(await readKept(dataDir, NOW)).toBeUndefined();
  }));

test.each([
  ['a moment that is none', { last: { ...kept().last, at: -1 } }],
  ['no process', { last: { ...kept().last, process: 1 } }],
  ['no counters', { last: { ...kept().last, counters: null } }],
  ['part of the counters', { last: { ...kept().last, counters: { ...counters, requests: { '2xx': 5 } } } }],
  ['no last reading', { last: undefined }],
  ['half a number', { last: { ...kept().last, counters: { ...counters, bytesIn: 0.5 } } }],
  ['minutes that are none', { minutes: {} }],
  ['a minute without figures', { minutes: [[30_000_000]] }],
  ['a minute with more', { minutes: [[30_000_000, [5, 0, 0, 1, 2], 0]] }],
  ['a minute with four figures', { minutes: [[30_000_000, [5, 0, 0, 1]]] }],
  ['a minute that is none', { minutes: [['x', [5, 0, 0, 1, 2]]] }],
  ['a figure that is none', { minutes: [[30_000_000, [5, 0, 0, 1, null]]] }],
  ['figures that are a text', { minutes: [[30_000_000, '50012']] }],
  ['another version', { version: 2 }],
])('a file with %s is not believed', (_what, change) =>
  withTemporaryDirectory(async (dataDir) => {
    await writeKept(dataDir, kept());
    const path = join(dataDir, 'traffic', 'figures.json');
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...change }));
    expect(await readKept(dataDir, NOW)).toBeUndefined();
  }),
);
