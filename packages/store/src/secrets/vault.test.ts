import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadOrCreateKey } from './key-file.ts';
import { createVault } from './vault.ts';

const vault = createVault('0123456789abcdef0123456789abcdef');

test('opens what it sealed, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
      expect(vault.open(vault.seal(text, context), context)).toBe(text);
    }),
  );
});

test('opens what a vault of the first version sealed', () => {
  const sealed = 'v1.573fea68.4x8T5druiPrx_Sdo_IaTmOgTzISsRQ5M9T3CVjtsI4N4Jyyh';
  expect(vault.open(sealed, 'certificate:1')).toBe('a secret');
});

test('never seals the same text alike', () => {
  expect(vault.seal('x', 'c')).not.toBe(vault.seal('x', 'c'));
});

test('opens nothing with another context, another key, or one bit changed', () => {
  const sealed = vault.seal('secret', 'certificate:1');
  expect(() => vault.open(sealed, 'certificate:2')).toThrow();
  expect(() => createVault('another key that is long enough..').open(sealed, 'certificate:1')).toThrow(/key in use/);
  const [version, keyId, body = ''] = sealed.split('.');
  const bytes = Buffer.from(body, 'base64url');
  for (let index = 0; index < bytes.length; index++) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => vault.open(`${version}.${keyId}.${changed.toString('base64url')}`, 'certificate:1')).toThrow();
  }
});

test('makes a key once, readable by nobody else, and refuses a damaged one', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-vault-'));
  try {
    const key = loadOrCreateKey(directory);
    expect(key).toHaveLength(32);
    expect(loadOrCreateKey(directory)).toEqual(key);
    const path = join(directory, 'encryption.key');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    writeFileSync(path, 'short');
    expect(() => loadOrCreateKey(directory)).toThrow(/does not hold a key/);
    rmSync(path);
    mkdirSync(path);
    expect(() => loadOrCreateKey(directory)).toThrow(`${path} can not be read, and without it no secret: EISDIR`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
