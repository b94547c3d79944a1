import { expect, test } from 'vitest';
import { inWords, isNoSuchFile, isUnsupported } from './sftp-errors.ts';

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

test('names the directory, where it has one', () => {
  const error = Object.assign(new Error('no'), { code: 2 });
  expect(inWords(error, place).message).toContain('no directory /kept,');
  expect(inWords(error, { user: 'me', directory: '' }).message).toContain('no directory /,');
});

test.each<[unknown, boolean, boolean]>([
  [Object.assign(new Error('no'), { code: 2 }), true, false],
  [Object.assign(new Error('no'), { code: 8 }), false, true],
  [new Error('Server does not support this extended request'), false, true],
  [Object.assign(new Error('no'), { code: 4 }), false, false],
  [undefined, false, false],
])('%s: there is no such file %s, the host can’t do it %s', (error, noFile, unsupported) => {
  expect(isNoSuchFile(error)).toBe(noFile);
  expect(isUnsupported(error)).toBe(unsupported);
});
