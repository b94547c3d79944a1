import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { afterAll, expect, test } from 'vitest';
import { makeSshKey } from '../../testing/start-sshd.ts';
import { parseFingerprints, parsePrivateKey } from './ssh-keys.ts';

const directory = mkdtempSync(join(tmpdir(), 'sallyport-ssh-keys-'));
afterAll(() => rmSync(directory, { recursive: true }));
const path = join(directory, 'key');
const make = (...more: string[]) => {
  const fingerprint = makeSshKey(path, more);
  return { fingerprint, key: readFileSync(path, 'utf8') };
};

test.each([
  ['an Ed25519 key', '-t ed25519'],
  ['an RSA key in PEM', '-t rsa -b 2048 -m PEM'],
  ['an ECDSA key', '-t ecdsa -b 256'],
])('%s is taken, whatever its line ends are', (_name, options) => {
  const { key } = make(...options.split(' '), '-N', '');
  expect(parsePrivateKey(`\r\n${key.replaceAll('\n', '\r\n')} `)).toBe(key);
  // What is taken here opens where it is used.
  expect(ssh2.utils.parseKey(key)).not.toBeInstanceOf(Error);
});

test('a key that takes a passphrase, of another form, or cut off, is refused, and not shown', () => {
  const open = make('-t', 'ed25519', '-N', '').key;
  const pkcs8 = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  for (const key of [
    make('-t', 'ed25519', '-N', 'a passphrase').key,
    make('-t', 'rsa', '-b', '2048', '-m', 'PEM', '-N', 'a passphrase').key,
    pkcs8,
    open.replace(/-----END.*/, ''),
    open.replace('BEGIN OPENSSH', 'BEGIN RSA'),
    '-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----',
    readFileSync(`${path}.pub`, 'utf8'),
    'a word',
  ]) {
    expect(() => parsePrivateKey(key)).toThrow(/^must be a private key as ssh-keygen -t ed25519 -N "" writes it/);
  }
});

test('fingerprints are those of ssh-keygen', () => {
  const { fingerprint } = make('-t', 'ed25519', '-N', '');
  expect(parseFingerprints(`${fingerprint}\n ${fingerprint},`)).toEqual([fingerprint, fingerprint]);
  expect(parseFingerprints(' ')).toEqual([]);
  for (const text of [
    'MD5:d4:1d',
    `x${fingerprint}`,
    fingerprint.slice(0, -1),
    `${fingerprint}=`,
    `256 ${fingerprint} a@b (ED25519)`,
  ]) {
    expect(() => parseFingerprints(text)).toThrow(/^must be SHA256:/);
  }
  expect(() => parseFingerprints(Array(9).fill(fingerprint).join(' '))).toThrow(/^must be/);
});
