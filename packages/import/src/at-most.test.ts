import { expect, test } from 'vitest';
import { atMost } from './at-most.ts';
import { loss, warn } from './loss.ts';

test('as many warnings are told as somebody may want to read, and how many more there are', () => {
  const warnings = [1, 2, 3, 4].map((line) => warn({ file: 'f', line }, `w${line}`));
  expect(atMost(4, warnings)).toEqual(warnings);
  expect(atMost(2, warnings)).toEqual([
    ...warnings.slice(0, 2),
    { file: 'f', line: 3, message: 'and 2 more like the last' },
  ]);
  expect(atMost(2, [])).toEqual([]);
});

test('a warning tells its place as far as it is known, and quotes no whole file', () => {
  expect(Object.keys(warn({ file: 'f', line: 1 }, 'w'))).toEqual(['file', 'line', 'message']);
  expect(warn({ file: 'f', line: 1, column: 0 }, 'w')).toEqual({ file: 'f', line: 1, column: 0, message: 'w' });
  expect(warn({ file: 'f', line: 1 }, 'x'.repeat(500)).message.length).toBeLessThanOrEqual(400);
  expect(loss({ file: 'f', line: 1 }, 'w')).toEqual({ warning: warn({ file: 'f', line: 1 }, 'w'), keptOut: false });
});
