import { expect, test } from 'vitest';
import { inWords } from './sftp-errors.ts';

const place = { user: 'me', directory: '/kept' };

test.each([2, 3, 4, 5, 99])(
  'what a host says with code %s is one short line, without what steers terminals',
  (code) => {
    const error = Object.assign(new Error(`\u001b]0;x\u0007 no\r\n${'x'.repeat(5_000)}`), { code });
    const { message } = inWords(error, place);
    expect(message).toMatch(/ no x/);
    expect(message).not.toMatch(/\p{Cc}/u);
    expect(message.length).toBeLessThan(500);
  },
);

test('what went wrong here is told as it is', () => {
  const error = new Error('the SFTP host is too slow');
  expect(inWords(error, place)).toBe(error);
});
