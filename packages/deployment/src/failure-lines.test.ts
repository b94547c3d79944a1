import { expect, test } from 'vitest';
import { ConfigError } from './config.ts';
import { failureLines } from './failure-lines.ts';

test('names every wrong setting, and what the world around did, without a stack', () => {
  expect(failureLines(new ConfigError(['A is wrong', 'B is wrong']))).toEqual(['A is wrong', 'B is wrong']);
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  expect(failureLines(full)).toEqual(['ENOSPC: no space left on device, write']);
  const store = Object.assign(new Error('database is locked'), { name: 'SqliteError', code: 'SQLITE_BUSY' });
  expect(failureLines(store)).toEqual(['the store can not be used: database is locked']);
});

test('keeps the stack of a bug', () => {
  const [line] = failureLines(new TypeError('x is not a function'));
  expect(line).toMatch(/^TypeError: x is not a function\n {4}at /);
  // Node's own codes are those of a caller's mistake.
  const invalid = Object.assign(new TypeError('x must be a string'), { code: 'ERR_INVALID_ARG_TYPE' });
  expect(failureLines(invalid)[0]).toMatch(/\n {4}at /);
  expect(failureLines(Object.assign(new Error('no stack'), { stack: undefined }))).toEqual(['no stack']);
  expect(failureLines('thrown text')).toEqual(['thrown text']);
});

test('tells what the service refused as it tells callers', () => {
  expect(failureLines(Object.assign(new Error('Unknown user'), { name: 'Refusal' }))).toEqual(['Unknown user']);
});
