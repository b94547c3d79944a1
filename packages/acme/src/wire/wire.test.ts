import { generateKeyPairSync } from 'node:crypto';
import { flattenedVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { newAccountKey } from '../../test/account-key.ts';
import { hmacKeyProblem, readAccountKey, recordValue } from './account-key.ts';
import { readCertificateKey } from './certificate-key.ts';
import { Nonces } from './nonces.ts';

describe('nonces', () => {
  test('the newest comes first, each once, and the oldest of many are forgotten', () => {
    const nonces = new Nonces();
    for (let index = 0; index < 20; index += 1) nonces.keep(`nonce-${index}`);
    const taken = Array.from({ length: 17 }, () => nonces.take());
    expect(taken).toEqual([...Array.from({ length: 16 }, (_, index) => `nonce-${19 - index}`), undefined]);
  });

  test('what is no base64url, or too long, is none', () => {
    const nonces = new Nonces();
    for (const nonce of [null, undefined, '', 'a b', 'a"', 'a\n', '\na', 'a=', 'ä', 'a'.repeat(513)])
      nonces.keep(nonce);
    expect(nonces.take()).toBeUndefined();
    nonces.keep('a'.repeat(512));
    expect(nonces.take()).toHaveLength(512);
  });

  test('none is left once one was bad', () => {
    const nonces = new Nonces();
    nonces.keep('one');
    nonces.clear();
    expect(nonces.take()).toBeUndefined();
  });
});

test.for([
  ['zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W', undefined],
  ['ab-_', undefined],
  // As some CAs show it.
  ['ab+/YQ==', undefined],
  ['', 'is empty'],
  ['A', 'is too short'],
  ['abc def', 'is not base64url'],
  ['abc\n', 'is not base64url'],
  ['YQ===', 'is not base64url'],
  ['=abc', 'is not base64url'],
] as const)('an HMAC key like %j', ([key, problem]) => {
  expect(hmacKeyProblem(key)).toBe(problem);
});

describe('an account’s key', () => {
  test('shows the CA its public part, and nothing more', async () => {
    const key = readAccountKey(newAccountKey());
    expect(key.jwk).toEqual({
      kty: 'EC',
      crv: 'P-256',
      x: expect.stringMatching(/^[\w-]{43}$/),
      y: expect.stringMatching(/^[\w-]{43}$/),
    });
    const headerOf = async (kid?: string) => {
      const signed = JSON.parse(await key.sign({}, { url: 'https://ca.example/', nonce: 'n', ...(kid && { kid }) }));
      return JSON.parse(Buffer.from(signed.protected, 'base64url').toString());
    };
    const request = { alg: 'ES256', url: 'https://ca.example/', nonce: 'n' };
    expect(await headerOf()).toEqual({ ...request, jwk: key.jwk });
    expect(await headerOf('https://ca.example/account/1')).toEqual({ ...request, kid: 'https://ca.example/account/1' });
    expect(await key.keyAuthorization('token')).toMatch(/^token\.[\w-]{43}$/);
  });

  test('answers dns-01 with the digest of RFC 8555, section 8.4', () => {
    // SHA-256 of nothing, as FIPS 180 has it.
    expect(recordValue('')).toBe('47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU');
  });
});

describe('the key of a certificate, which may have it revoked', () => {
  const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
  const made = {
    RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
    ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
    ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  };

  test.each(Object.entries(made))('signs by %s, and shows its public part and nothing more', async (alg, pair) => {
    const signer = readCertificateKey(pair.privateKey.export(pkcs8) as string);
    const url = 'https://ca.example/revoke';
    const jws = JSON.parse(await signer.sign({ certificate: 'x' }, { url, nonce: 'n' }));
    const { payload } = await flattenedVerify(jws, pair.publicKey);
    expect(JSON.parse(Buffer.from(payload).toString())).toEqual({ certificate: 'x' });
    const header = JSON.parse(Buffer.from(jws.protected, 'base64url').toString());
    expect(header).toEqual({ alg, url, nonce: 'n', jwk: pair.publicKey.export({ format: 'jwk' }) });
  });

  test('is of a kind that signs so', () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    expect(() => readCertificateKey(privateKey.export(pkcs8) as string)).toThrow('RSA, or EC on P-256 or P-384');
  });
});
