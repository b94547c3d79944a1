import { chmodSync, chownSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isRoot } from '../../../../test/support/is-root.ts';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { keyMaterial } from './deployment-key.ts';
import { forgetKey, keyFile, loadOrCreateKey, loadRetiredKey, newKey, replaceKey, retiredKeys } from './key-file.ts';
import { createVault, keyIdOf, openVault } from './vault.ts';

const CONTEXT = 'certificate:1';
const GIVEN = 'a key that the operator has given';

test('a key that is given is the only one, and no file is made', () =>
  withTemporaryDirectory(async (dataDir) => {
    const vault = openVault({ dataDir, encryptionKey: GIVEN });
    expect(vault.keyId).toBe(createVault(GIVEN).keyId);
    expect(createVault(GIVEN).open(vault.seal('secret', CONTEXT), CONTEXT)).toBe('secret');
    expect(keyFile(dataDir)).toEqual({ path: join(dataDir, 'encryption.key'), exists: false });
    expect(readdirSync(dataDir)).toEqual([]);
  }));

test('a rotation by another process is noticed, and what the key before it sealed still opens', () =>
  withTemporaryDirectory(async (dataDir) => {
    const vault = openVault({ dataDir, encryptionKey: undefined });
    const before = vault.keyId;
    const old = vault.seal('old secret', CONTEXT);
    const key = newKey();
    replaceKey(dataDir, key, before);
    expect(vault.keyId).toBe(createVault(key).keyId);
    const sealed = vault.seal('new secret', CONTEXT);
    expect(keyIdOf(sealed)).toBe(vault.keyId);
    expect(createVault(key).open(sealed, CONTEXT)).toBe('new secret');
    // Again: it is remembered by then.
    for (let time = 1; time <= 2; time++) expect(vault.open(old, CONTEXT)).toBe('old secret');
    expect(() => vault.open(old, 'certificate:2')).toThrow();
    expect(retiredKeys(dataDir)).toEqual([before]);
    expect(keyFile(dataDir).exists).toBe(true);
  }));

test('a key that was forgotten opens nothing, and is named', () =>
  withTemporaryDirectory(async (dataDir) => {
    const old = openVault({ dataDir, encryptionKey: undefined });
    const before = old.keyId;
    const sealed = old.seal('old secret', CONTEXT);
    const key = newKey();
    replaceKey(dataDir, key, before);
    forgetKey(dataDir, before);
    expect(retiredKeys(dataDir)).toEqual([]);
    expect(loadRetiredKey(dataDir, before)).toBeUndefined();
    const { keyId } = createVault(key);
    const vault = openVault({ dataDir, encryptionKey: undefined });
    expect(() => vault.open(sealed, CONTEXT)).toThrow(`sealed with key ${before}, but the key in use is ${keyId}`);
  }));

test('keys in use and from before are for nobody else to read, and no draft stays', () =>
  withTemporaryDirectory(async (dataDir) => {
    loadOrCreateKey(dataDir);
    const { keyId } = openVault({ dataDir, encryptionKey: undefined });
    replaceKey(dataDir, newKey(), keyId);
    expect(readdirSync(dataDir).sort()).toEqual(['encryption.key', `encryption.key.${keyId}`]);
    for (const name of readdirSync(dataDir)) expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
    // Whatever else lies there is no key from before.
    for (const name of [`old-encryption.key.${keyId}`, `encryption.key.${keyId}.bak`, 'encryption.key.draft-0123'])
      writeFileSync(join(dataDir, name), '');
    expect(retiredKeys(dataDir)).toEqual([keyId]);
    // A second time under the same id, as after a crash between the two steps: the first copy stays.
    const kept = loadRetiredKey(dataDir, keyId);
    replaceKey(dataDir, newKey(), keyId);
    expect(loadRetiredKey(dataDir, keyId)).toEqual(kept);
  }));

test('a key that can not be kept is not replaced, and no draft stays', () =>
  withTemporaryDirectory(async (dataDir) => {
    expect(() => replaceKey(dataDir, newKey(), '0123abcd')).toThrow('ENOENT');
    expect(readdirSync(dataDir)).toEqual([]);
  }));

test('a key that others could read is theirs no more once it is loaded', () =>
  withTemporaryDirectory(async (dataDir) => {
    const key = loadOrCreateKey(dataDir);
    const { path } = keyFile(dataDir);
    chmodSync(path, 0o644);
    expect(loadOrCreateKey(dataDir)).toEqual(key);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }));

// Only root can give a file away.
test.runIf(isRoot)('a key that root makes belongs to whom the directory belongs to', () =>
  withTemporaryDirectory(async (dataDir) => {
    chownSync(dataDir, 4321, 4321);
    loadOrCreateKey(dataDir);
    const { uid, gid } = statSync(keyFile(dataDir).path);
    expect([uid, gid]).toEqual([4321, 4321]);
  }),
);

test.each(['', 'v1', 'v1.00000000', 'v1.00000000.', 'v2.KEY.AAAA', 'v1.KEY.AAAA.AAAA', 'plain text'])(
  'what was not sealed is refused by its form: %j',
  (text) => {
    const vault = createVault(GIVEN);
    expect(() => vault.open(text.replace('KEY', vault.keyId), CONTEXT)).toThrow('sealed text has an unknown format');
  },
);

test.each(['A', 'AAAA', 'A'.repeat(16), 'A'.repeat(37)])('what is too short to be sealed is refused: %s', (body) => {
  const vault = createVault(GIVEN);
  expect(() => vault.open(`v1.${vault.keyId}.${body}`, CONTEXT)).toThrow();
});

test.each([
  ['v1.0123abcd.AAAA', '0123abcd'],
  ['v1.0123abc.AAAA', undefined],
  ['v1.0123ABCD.AAAA', undefined],
  ['v1.0123abcd', undefined],
  [' v1.0123abcd.AAAA', undefined],
  ['v2.0123abcd.AAAA', undefined],
])('the key of %j is %s', (sealed, keyId) => {
  expect(keyIdOf(sealed)).toBe(keyId);
});

test('the material of a key is found by its id: the one given, the one in use, one from before, or none', () =>
  withTemporaryDirectory(async (dataDir) => {
    const given = { dataDir, encryptionKey: GIVEN };
    expect(keyMaterial(given, createVault(GIVEN).keyId)).toEqual(Buffer.from(GIVEN));
    expect(keyMaterial(given, '00000000')).toBeUndefined();

    const generated = { dataDir, encryptionKey: undefined };
    expect(keyMaterial(generated, '00000000')).toBeUndefined();
    // Looking makes none.
    expect(keyFile(dataDir).exists).toBe(false);
    const first = loadOrCreateKey(dataDir);
    const { keyId } = createVault(first);
    expect(keyMaterial(generated, keyId)).toEqual(first);
    const second = newKey();
    replaceKey(dataDir, second, keyId);
    expect(keyMaterial(generated, keyId)).toEqual(first);
    expect(keyMaterial(generated, createVault(second).keyId)).toEqual(second);
    // One that is given hides those of the directory.
    expect(keyMaterial(given, keyId)).toBeUndefined();
  }));
