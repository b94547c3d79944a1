import { PASSWORD_MIN_LENGTH } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { checkNewPassword } from './password-rules.ts';

const EMAIL = 'admin.of.all@sallyport.example';
const problemOf = (password: string, field?: string): string | undefined => {
  try {
    checkNewPassword(password, EMAIL, field);
    return undefined;
  } catch (error) {
    expect(error).toMatchObject({ status: 400 });
    return (error as Error).message;
  }
};

test.each([
  ['as long as it must be', 'x'.repeat(PASSWORD_MIN_LENGTH), true],
  ['one too short', 'x'.repeat(PASSWORD_MIN_LENGTH - 1), false],
  ['empty', '', false],
  // Each is one character of two UTF-16 units.
  ['of fewer characters than units', '😀'.repeat(PASSWORD_MIN_LENGTH - 1), false],
  ['of as many characters beyond the first plane', '😀'.repeat(PASSWORD_MIN_LENGTH), true],
  // A letter and an accent are one character, which is what is hashed.
  ['of letters with accents apart', 'e\u0301'.repeat(PASSWORD_MIN_LENGTH - 1), false],
])('a password %s', (_what, password, isGood) => {
  const problem = `password must be at least ${PASSWORD_MIN_LENGTH} characters long`;
  expect(problemOf(password)).toBe(isGood ? undefined : problem);
});

test('the address is no password, in no spelling, and the field is named', () => {
  expect(problemOf(EMAIL)).toBe('password must not be the e-mail address');
  expect(problemOf(EMAIL.toUpperCase(), 'new_password')).toBe('new_password must not be the e-mail address');
  expect(problemOf('x', 'new_password')).toMatch(/^new_password must be at least/);
  expect(problemOf(`${EMAIL}!`)).toBeUndefined();
});
