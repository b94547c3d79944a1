import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { TotpSecret } from '@sallyport/contract';
import { createLog } from '@sallyport/deployment/log';
import { createGiven, PASSWORD } from '@sallyport/server/testing/given-accounts';
import { startServer } from '@sallyport/server/testing/parts';
import { onBothDatabases, startApp, type TestApp } from '@sallyport/server/testing/start-app';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../test/support/certificates.ts';
import { type Database, openDatabase } from '../database/open.ts';
import { CHAIN_KEY_CONTEXT } from './contexts.ts';
import { newKey, replaceKey, retiredKeys } from './key-file.ts';
import { rotateKeys, SEALED_PLACES } from './rotate-keys.ts';
import { createVault, openVault, type Vault } from './vault.ts';

onBothDatabases('rotating the encryption key', (kind) => {
  let app: TestApp;
  let database: Database;

  beforeEach(async () => {
    app = await startApp(kind, { SALLYPORT_SESSION_SECRET: 's'.repeat(32) });
    database = openDatabase(app.config);
  });
  afterEach(async () => {
    await database.stop();
    await app.stop();
  });

  const sealedTexts = async (): Promise<string[]> => {
    const texts: string[] = [];
    await database.transact(async (tx) => {
      for (const place of Object.values(SEALED_PLACES)) for await (const { sealed } of place(tx)) texts.push(sealed);
    });
    return texts;
  };

  /** Something in every place that holds secrets. */
  const givenSecrets = async () => {
    const given = createGiven(app);
    const admin = await given.administrator();
    await app.send('POST', '/settings', { key: 'smtp.password', value: 'smtp secret' }, admin.headers);
    await app.send<TotpSecret>('POST', '/auth/totp/setup', { password: PASSWORD }, admin.headers);
    const form = uploadForm('site', makeCertificate(['site.example.com']));
    expect((await app.send('POST', '/certificates/upload', form)).status).toBe(201);
    const files = [{ filename: 'Caddyfile', content: 'a.example.com {\n\treverse_proxy 127.0.0.1:9\n}\n' }];
    expect((await app.send('POST', '/import/upload-multi', { files })).status).toBe(200);
    expect(await sealedTexts()).toHaveLength(6);
    return admin;
  };

  const rotate = (vault: Vault) => {
    const key = newKey();
    const old = vault.keyId;
    return rotateKeys(database, {
      from: vault,
      to: createVault(key),
      install: () => replaceKey(app.dataDir, key, old),
      record: async () => {},
    });
  };

  test('seals everything anew, and a running server goes on with the new key', async () => {
    const admin = await givenSecrets();
    const vault = openVault(app.config);
    const before = await sealedTexts();
    const oldKeyId = vault.keyId;
    expect(await rotate(vault)).toBe(6);
    expect(vault.keyId).not.toBe(oldKeyId);
    const after = await sealedTexts();
    expect(after.every((text) => text.startsWith(`v1.${vault.keyId}.`))).toBe(true);
    expect(statSync(join(app.dataDir, 'encryption.key')).mode & 0o777).toBe(0o600);
    // The server has not been told: it must open what is sealed anew, and seal with the new key.
    expect((await app.send('POST', '/settings', { key: 'smtp.password', value: 'b' }, admin.headers)).status).toBe(200);
    expect((await app.send('GET', '/import/preview')).status).toBe(200);
    expect((await sealedTexts()).every((text) => text.startsWith(`v1.${vault.keyId}.`))).toBe(true);
    // What a backup holds under the old key still opens, until the old key is forgotten.
    expect(retiredKeys(app.dataDir)).toEqual([oldKeyId]);
    expect(before.every((text) => text.startsWith(`v1.${oldKeyId}.`))).toBe(true);
    const chainKey = before.find((text) => {
      try {
        return vault.open(text, CHAIN_KEY_CONTEXT) !== '';
      } catch {
        return false;
      }
    });
    expect(chainKey).toBeDefined();
  });

  test('changes nothing when one text can’t be opened', async () => {
    await givenSecrets();
    const before = await sealedTexts();
    await database.kysely.updateTable('certificates').set({ key_sealed: 'v1.00000000.damaged' }).execute();
    const vault = openVault(app.config);
    const { keyId } = vault;
    await expect(rotate(vault)).rejects.toThrow();
    expect(vault.keyId).toBe(keyId);
    const after = await sealedTexts();
    expect(after.filter((text) => before.includes(text))).toHaveLength(5);
  });

  test('loses nothing when it dies between the new key and the commit', async () => {
    await givenSecrets();
    const vault = openVault(app.config);
    const key = newKey();
    const old = vault.keyId;
    const dying = rotateKeys(database, {
      from: vault,
      to: createVault(key),
      install() {
        replaceKey(app.dataDir, key, old);
        throw new Error('killed');
      },
      record: async () => {},
    });
    await expect(dying).rejects.toThrow('killed');
    await app.restart();
    const reopened = openVault(app.config);
    expect(reopened.keyId).not.toBe(old);
    expect(await rotate(reopened)).toBe(6);
  });

  test('is noticed at start-up by a server that has another key', async () => {
    await givenSecrets();
    const other = { ...app.config, encryptionKey: 'another key of at least 32 characters' };
    const log = createLog('test', 'silent');
    await expect(startServer(other, log)).rejects.toThrow(/is not the key of this store: sealed with key [0-9a-f]{8}/);
  });

  test('knows every column that holds sealed texts', async () => {
    const { rows } =
      kind === 'sqlite'
        ? await sql<{ place: string }>`
            select m.name || '.' || c.name as place from sqlite_master m join pragma_table_info(m.name) c
            where m.type = 'table' and c.name like '%sealed%'`.execute(database.kysely)
        : await sql<{ place: string }>`
            select table_name || '.' || column_name as place from information_schema.columns
            where table_schema = 'public' and column_name like '%sealed%'`.execute(database.kysely);
    const places = rows.map(({ place }) => place);
    expect(places.length).toBeGreaterThan(0);
    for (const place of places) expect(Object.keys(SEALED_PLACES)).toContain(place);
  });
});
