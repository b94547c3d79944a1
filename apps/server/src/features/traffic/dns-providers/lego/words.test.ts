import { expect, test } from 'vitest';
import type { ProgramEnd } from '../run-program.ts';
import { leftBehind, reasonOf } from './words.ts';

const end = (output: string, more: Partial<ProgramEnd> = {}): ProgramEnd => ({
  ...{ code: 1, signal: null, output, isTimeout: false },
  ...more,
});
const log = (text: string) => `2026/11/23 12:00:00 ${text}\n`;

test('why it failed is what lego says from where its problem begins, without its own prefixes', () => {
  const output = [
    log('[INFO] acme: Registering account'),
    log('[WARN] something else'),
    log('Could not obtain certificates:'),
    '\terror: one or more domains had a problem:\n',
    '[a.test] [a.test] acme: error presenting token: cloud: status 401 with the-token\n',
    log('[INFO] [a.test] acme: Cleaning DNS-01 challenge'),
    '\n',
    'and more about 2026/11/23 12:00:00 it\n',
  ].join('');
  expect(reasonOf(end(output), ['the-token'])).toBe('cloud: status 401 with *** and more about 2026/11/23 12:00:00 it');
  expect(reasonOf(end(`before\n${log('error: no such thing')}after\n`), [])).toBe('error: no such thing after');
});

test('where it names no problem its last words are told, or else its code', () => {
  const lines = ['one', 'two', 'three', '[INFO] no news', 'four', ''];
  expect(reasonOf(end(lines.map(log).join('')), [])).toBe('two three four');
  expect(reasonOf(end(log('[INFO] no news'), { code: 7 }), [])).toBe('it ended with code 7');
});

test('an end by force is told as one', () => {
  expect(reasonOf(end('any', { code: null, signal: 'SIGKILL', isTimeout: true }), [])).toBe(
    'it was not done in time, and was ended',
  );
  expect(reasonOf(end('any', { code: null, signal: 'SIGTERM' }), [])).toBe('it was ended by SIGTERM');
});

test('what it could not take away is told; other words are none', () => {
  const output = `${log('[INFO] fine')}${log('[WARN] [a.test] acme: cleaning up failed: cloud says the-token')}`;
  expect(leftBehind(end(output), ['the-token'])).toBe('[a.test] acme: cleaning up failed: cloud says ***');
  expect(leftBehind(end(log('[WARN] a problem')), [])).toBeUndefined();
});
