import { createHmac, hkdfSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSessionTokens } from './session-token.ts';

const SECRET = 'a secret of the deployment, long enough';
const NOW = Date.parse('2026-05-02T12:00:00.000Z');
const seconds = NOW / 1000;
const key = Buffer.from(hkdfSync('sha256', SECRET, '', 'sallyport sessions', 32));
const tokens = createSessionTokens(SECRET, () => new Date(NOW));

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const HEADER = { alg: 'HS256', typ: 'JWT' };
const CLAIMS = { role: 'admin', sid: 'a-b', iss: 'sallyport', sub: '7', iat: seconds, exp: seconds + 3_600 };
/** What a token says that is signed with the right key. */
const read = (claims: object, header: object = {}, hash = 'sha256') => {
  const text = `${base64({ ...HEADER, ...header })}.${base64({ ...CLAIMS, ...claims })}`;
  return tokens.read(`${text}.${createHmac(hash, key).update(text).digest('base64url')}`);
};

test('a token says whose session it is', async () => {
  const moment = (s: number) => new Date((seconds + s) * 1000);
  const issued = { userId: 7, sessionId: 'a-b', role: 'admin', issuedAt: moment(0), expiresAt: moment(3_600) } as const;
  expect(await tokens.read(await tokens.sign(issued))).toEqual({ userId: 7, sessionId: 'a-b' });
  expect(await read({})).toEqual({ userId: 7, sessionId: 'a-b' });
});

test.each<[string, object]>([
  ['of another issuer', { iss: 'another' }],
  ['of no issuer', { iss: undefined }],
  ['for nobody', { sub: undefined }],
  ['for no number', { sub: 'x' }],
  ['for half a user', { sub: '1.5' }],
  ['of no session', { sid: undefined }],
  ['of a session that is no text', { sid: 7 }],
  ['that does not end', { exp: undefined }],
  ['that has ended', { exp: seconds - 6 }],
  ['that nobody knows the beginning of', { iat: undefined }],
  ['from the future', { iat: seconds + 6 }],
  ['that is older than a day, however long it lasts', { iat: seconds - 86_406, exp: seconds + 86_400 }],
])('a token %s is none', async (_what, claims) => expect(await read(claims)).toBeUndefined());

test('clocks may differ by five seconds', async () => {
  for (const claims of [{ iat: seconds + 5 }, { exp: seconds - 4 }, { iat: seconds - 86_400 }]) {
    expect(await read(claims)).toBeDefined();
  }
});

test('a token of another kind is none, though the right key has signed it', async () => {
  expect(await read({}, { typ: 'other' })).toBeUndefined();
  expect(await read({}, { typ: undefined })).toBeUndefined();
  expect(await read({}, { alg: 'HS384' }, 'sha384')).toBeUndefined();
  expect(await read({}, { alg: 'HS512' }, 'sha512')).toBeUndefined();
  expect(await read({}, { alg: 'none' })).toBeUndefined();
});

test('the key is named without being told, and is another one each time where none is set', () => {
  const none = [1, 2].map(() => createSessionTokens(undefined, () => new Date(NOW)).keyId);
  for (const keyId of [tokens.keyId, ...none]) expect(keyId).toMatch(/^[0-9a-f]{16}$/);
  expect(new Set([tokens.keyId, ...none]).size).toBe(3);
  expect(createSessionTokens(SECRET, () => new Date(NOW)).keyId).toBe(tokens.keyId);
  expect(key.toString('hex')).not.toContain(tokens.keyId);
});
