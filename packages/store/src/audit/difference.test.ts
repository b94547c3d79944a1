import { expect, test } from 'vitest';
import { differenceOf } from './difference.ts';

test('a change tells the fields that differ, those that came, and those that went', () => {
  const before = { same: [1], changed: 'a', gone: 1 };
  const after = { same: [1], changed: 'b', came: 2 };
  expect(differenceOf(before, after)).toEqual({ before: { changed: 'a', gone: 1 }, after: { changed: 'b', came: 2 } });
  expect(differenceOf({ a: 1 }, { a: 1 })).toEqual({ before: {}, after: {} });
});

test('what was made or removed is told as a whole, by the side there is', () => {
  expect(differenceOf(undefined, { a: 1, b: undefined })).toStrictEqual({ after: { a: 1 } });
  expect(differenceOf({ a: 1 }, undefined)).toStrictEqual({ before: { a: 1 } });
  expect(differenceOf(undefined, undefined)).toStrictEqual({});
});

test.each([
  'password',
  'smtp_passwd',
  'webhook_secret',
  'token',
  'key_sealed',
  'password_hash',
  'privateKey',
  'private_key',
  'key_pem',
  'recovery_codes',
  'Authorization',
  'cookie',
])('the value of %s is not told, wherever it is, but that it differs', (name) => {
  const seen = differenceOf({ [name]: 'old', list: [{ [name]: 1 }] }, { [name]: 'new', list: [{ [name]: 2 }] });
  const masked = { [name]: '***', list: [{ [name]: '***' }] };
  expect(seen).toEqual({ before: masked, after: masked });
  expect(differenceOf(undefined, { [name]: { of: 'parts' } })).toEqual({ after: { [name]: '***' } });
});

test('that there is no credential, and facts about one, are told', () => {
  const facts = { password: null, secret: '', has_token: true, token_id: 7, totp_required: 'yes', hashed: 'argon2id' };
  expect(differenceOf(undefined, facts)).toEqual({ after: facts });
});

test('no text, no list and no nesting is longer than an entry may be', () => {
  const long = 'x'.repeat(1_024);
  expect(differenceOf(undefined, { long, longer: `${long}y` })).toEqual({
    after: { long, longer: `${long}… (1025 characters)` },
  });
  expect(differenceOf(undefined, { list: Array.from({ length: 101 }, (_, n) => n) })).toEqual({
    after: { list: Array.from({ length: 100 }, (_, n) => n) },
  });
  expect(differenceOf(undefined, { 1: { 2: { 3: { 4: { 5: { 6: 'a' } } } } } })).toEqual({
    after: { 1: { 2: { 3: { 4: { 5: { 6: 'a' } } } } } },
  });
  expect(differenceOf(undefined, { 1: { 2: { 3: { 4: { 5: { 6: {} } } } } } })).toEqual({
    after: { 1: { 2: { 3: { 4: { 5: { 6: '…' } } } } } },
  });
  expect(differenceOf(undefined, { 1: [[[[[[]]]]]] })).toEqual({ after: { 1: [[[[['…']]]]] } });
});

test('numbers, booleans and nothing are told as they are', () => {
  expect(differenceOf(undefined, { a: 1, b: false, c: null, d: [null, 0] })).toEqual({
    after: { a: 1, b: false, c: null, d: [null, 0] },
  });
});
