import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { openSigned, readAccountKey, recordValue } from './account-key.ts';

const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
const pemOf = (key: KeyObject) => key.export({ format: 'pem', type: 'pkcs8' }) as string;

test.each([
  ['RSA', rsa, 'RSA PRIVATE KEY'],
  ['P-256', ec('P-256'), 'EC PRIVATE KEY'],
  ['P-384', ec('P-384'), 'EC PRIVATE KEY'],
])('a key of %s is read as lego holds it, and is the same', (_what, key, label) => {
  const { pem, publicKey } = readAccountKey(pemOf(key));
  expect(pem).toMatch(new RegExp(`^-----BEGIN ${label}-----\n`));
  expect(createPrivateKey(pem).equals(key)).toBe(true);
  expect(publicKey.export({ format: 'jwk' })).toMatchObject({ kty: key.asymmetricKeyType?.toUpperCase() });
});

test('the thumbprint and the record are those of RFC 7638 and RFC 8555', () => {
  for (const [key, names] of [
    [rsa, ['e', 'kty', 'n']],
    [ec('P-384'), ['crv', 'kty', 'x', 'y']],
  ] as const) {
    const jwk = key.export({ format: 'jwk' }) as Record<string, string>;
    const text = `{${names.map((name) => `"${name}":"${jwk[name]}"`).join(',')}}`;
    const thumbprint = createHash('sha256').update(text).digest('base64url');
    const account = readAccountKey(pemOf(key));
    expect(account.thumbprint).toBe(thumbprint);
    expect(recordValue('token', account)).toBe(createHash('sha256').update(`token.${thumbprint}`).digest('base64url'));
  }
});

test('what was signed with the key is opened, and nothing else', () => {
  const signed = (key: KeyObject, alg: string, hash: string, change: object = {}, head: object = { alg }) => {
    const [protect, payload] = [JSON.stringify(head), 'the payload'].map((part) =>
      Buffer.from(part).toString('base64url'),
    );
    const signature = sign(hash, Buffer.from(`${protect}.${payload}`), { key, dsaEncoding: 'ieee-p1363' });
    return JSON.stringify({ protected: protect, payload, signature: signature.toString('base64url'), ...change });
  };
  for (const [key, alg, hash] of [
    [rsa, 'RS256', 'sha256'],
    [ec('P-256'), 'ES256', 'sha256'],
    [ec('P-384'), 'ES384', 'sha384'],
    [ec('P-521'), 'ES512', 'sha512'],
  ] as const) {
    const { publicKey } = readAccountKey(pemOf(key));
    expect(openSigned(signed(key, alg, hash), publicKey), alg).toBe('the payload');
    for (const wrong of [
      signed(
        alg === 'RS256' ? generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey : ec('P-256'),
        alg,
        hash,
      ),
      signed(key, alg, hash, { payload: Buffer.from('another').toString('base64url') }),
      signed(key, alg, hash, { signature: undefined }),
      signed(key, alg, hash, { payload: undefined }),
      signed(key, alg, hash, { protected: undefined }),
      signed(key, 'none', hash),
      signed(key, alg, hash, {}, {}),
      'no JSON',
      'null',
    ]) {
      expect(openSigned(wrong, publicKey), `${alg} ${wrong}`).toBeUndefined();
    }
  }
});
