import { expect, test } from 'vitest';
import { makeCertificate } from '../../../../test/support/certificates.ts';
import { scriptedCa } from '../scripted-ca.ts';

test('a key that is none is not repeated', () => {
  for (const accountKey of [
    '',
    'secret-nonsense',
    '-----BEGIN PRIVATE KEY-----\nsecret-nonsense\n-----END PRIVATE KEY-----',
  ]) {
    expect(() => scriptedCa().client({ accountKey })).toThrow(new TypeError('the account’s key is no PEM private key'));
  }
  const { key } = makeCertificate(['a.example'], {
    keyCommand: ['genpkey', '-algorithm', 'ed25519', '-out', 'key.pem'],
  });
  expect(() => scriptedCa().client({ accountKey: key })).toThrow('not an EC key on P-256');
});
