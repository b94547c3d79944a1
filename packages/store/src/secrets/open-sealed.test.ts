import { rmSync } from 'node:fs';
import type { Config } from '@sallyport/deployment/config';
import { emptyStore } from '@sallyport/server/testing/start-app';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { migrate } from '../database/migrate.ts';
import { type Database, openDatabase } from '../database/open.ts';
import { CHAIN_KEY_CONTEXT, settingContext } from './contexts.ts';
import { keyFile, newKey, replaceKey } from './key-file.ts';
import { adoptSecrets } from './open-sealed.ts';
import { countSealedWith, rotateKeys, SEALED_PLACES } from './rotate-keys.ts';
import { openStoreVault } from './store-vault.ts';
import { createVault, keyIdOf, openVault } from './vault.ts';

const MAIL = settingContext('smtp.password');
const OWN = 'the key of this deployment, long enough';
const FOREIGN = 'the key of another deployment, long enough';

/** A store that holds nothing but what is given: the chain's key, and the password of the mail server. */
const withStore = (work: (database: Database, config: Config) => Promise<void>) =>
  emptyStore('sqlite', async (config) => {
    const database = openDatabase(config);
    try {
      await migrate(database);
      await work(database, config);
    } finally {
      await database.stop();
    }
  });

const put = async ({ kysely }: Database, chain: string, mail: string): Promise<void> => {
  await kysely.updateTable('audit_chain').set({ key_sealed: chain }).execute();
  await kysely.deleteFrom('settings').where('key', '=', 'smtp.password').execute();
  await kysely.insertInto('settings').values({ key: 'smtp.password', value: mail }).execute();
};

const read = async ({ kysely }: Database): Promise<[chain: string, mail: string]> => {
  const { key_sealed } = await kysely.selectFrom('audit_chain').select('key_sealed').executeTakeFirstOrThrow();
  const { value } = await kysely
    .selectFrom('settings')
    .select('value')
    .where('key', '=', 'smtp.password')
    .executeTakeFirstOrThrow();
  return [key_sealed, value];
};

const own = createVault(OWN);
const foreign = createVault(FOREIGN);

const adopt = ({ transact }: Database, key?: string): Promise<number> => transact((tx) => adoptSecrets(tx, own, key));

test('what another key sealed is sealed anew, and what is sealed with the own one stays as it is', () =>
  withStore(async (database) => {
    await put(database, foreign.seal('chain', CHAIN_KEY_CONTEXT), own.seal('mail', MAIL));
    const [, before] = await read(database);
    expect(await adopt(database, FOREIGN)).toBe(1);
    const [chain, mail] = await read(database);
    expect(mail).toBe(before);
    expect(own.open(chain, CHAIN_KEY_CONTEXT)).toBe('chain');
    // Nothing is left to do, with or without that key.
    expect([await adopt(database, FOREIGN), await adopt(database)]).toEqual([0, 0]);
    expect(await read(database)).toEqual([chain, mail]);
  }));

test('a key that is not here is named with the one that is, and nothing is changed', () =>
  withStore(async (database) => {
    await put(database, foreign.seal('chain', CHAIN_KEY_CONTEXT), own.seal('mail', MAIL));
    const before = await read(database);
    for (const key of [undefined, 'a third key that is long enough as well']) {
      const refusal = await adopt(database, key).catch((error: unknown) => error);
      expect(refusal).toMatchObject({
        status: 400,
        message: expect.stringContaining(`sealed with key ${foreign.keyId}, and this deployment has key ${own.keyId}`),
      });
    }
    expect(await read(database)).toEqual(before);
  }));

test.each([
  ['with the own key, for another place', own],
  ['with the foreign key, for another place', foreign],
])('a secret that was sealed %s is refused by its place', (_what, vault) =>
  withStore(async (database) => {
    await put(database, own.seal('chain', CHAIN_KEY_CONTEXT), vault.seal('mail', settingContext('other')));
    const before = await read(database);
    await expect(adopt(database, FOREIGN)).rejects.toMatchObject({
      status: 400,
      message: 'settings.value holds a secret that can not be opened',
    });
    expect(await read(database)).toEqual(before);
  }),
);

test('what is not sealed at all is refused by its place', () =>
  withStore(async (database) => {
    await put(database, own.seal('chain', CHAIN_KEY_CONTEXT), 'in plain sight');
    await expect(adopt(database)).rejects.toMatchObject({
      status: 400,
      message: 'settings.value holds no sealed secret',
    });
  }));

test('how much a key has sealed is counted', () =>
  withStore(async ({ transact, ...database }) => {
    await put({ transact, ...database }, foreign.seal('chain', CHAIN_KEY_CONTEXT), own.seal('mail', MAIL));
    const counts = await transact(async (tx) => [
      await countSealedWith(tx, own.keyId),
      await countSealedWith(tx, foreign.keyId),
      await countSealedWith(tx, '00000000'),
    ]);
    expect(counts).toEqual([1, 1, 0]);
  }));

test('a rotation writes itself down first, seals all of it, and then puts the key in place', () =>
  withStore(async (database) => {
    await put(database, own.seal('chain', CHAIN_KEY_CONTEXT), own.seal('mail', MAIL));
    const steps: string[] = [];
    const rotation = {
      from: own,
      to: foreign,
      record: async () => void steps.push('record'),
      install: () => void steps.push('install'),
    };
    expect(await rotateKeys(database, rotation)).toBe(2);
    expect(steps).toEqual(['record', 'install']);
    const [chain, mail] = await read(database);
    expect([foreign.open(chain, CHAIN_KEY_CONTEXT), foreign.open(mail, MAIL)]).toEqual(['chain', 'mail']);
    // One that can't be written down is none.
    const refused = { ...rotation, from: foreign, to: own, record: () => Promise.reject(new Error('no')) };
    await expect(rotateKeys(database, refused)).rejects.toThrow('no');
    expect(await read(database)).toEqual([chain, mail]);
  }));

test('a store whose key file is missing is not given another key', () =>
  withStore(async (database, { dataDir }) => {
    const path = keyFile(dataDir).path;
    const open = (encryptionKey?: string) => openStoreVault(database, { dataDir, encryptionKey });
    // Nothing was sealed yet: the first start makes one.
    const vault = await open();
    const { keyId } = vault;
    expect(keyFile(dataDir).exists).toBe(true);
    await put(database, vault.seal('chain', CHAIN_KEY_CONTEXT), vault.seal('mail', MAIL));
    expect((await open()).keyId).toBe(keyId);
    rmSync(path);
    await expect(open()).rejects.toThrow(`${path} is missing, and the store is sealed with the key that was in it`);
    await expect(open()).rejects.toThrow(keyId);
    expect(keyFile(dataDir).exists).toBe(false);
    // Not even while it runs.
    expect(() => vault.seal('x', MAIL)).toThrow('ENOENT');
    expect(keyFile(dataDir).exists).toBe(false);
    // Who brings a key needs no file.
    expect((await open(OWN)).keyId).toBe(own.keyId);
    expect(keyFile(dataDir).exists).toBe(false);
  }));

test('what a vault seals is sealed with the key that is in use by then', () =>
  withStore(async (_database, { dataDir }) => {
    const vault = openVault({ dataDir, encryptionKey: undefined });
    const key = newKey();
    replaceKey(dataDir, key, vault.keyId);
    expect(keyIdOf(vault.seal('x', MAIL))).toBe(createVault(key).keyId);
  }));

/** A row of its table for each place, with anything in what it needs besides. */
const givenEverywhere = async ({ kysely, transact }: Database): Promise<string[]> => {
  for (const place of Object.keys(SEALED_PLACES)) {
    const [table = '', sealed = ''] = place.split('.');
    const { rows: columns } = await sql<{
      name: string;
      type: string;
      notnull: number;
      dflt_value: unknown;
      pk: number;
    }>`
      select name, type, "notnull", dflt_value, pk from pragma_table_info(${table})`.execute(kysely);
    const needed = columns.filter(
      ({ name, notnull, dflt_value, pk }) => name !== sealed && notnull === 1 && dflt_value === null && pk === 0,
    );
    const values = new Map<string, unknown>(needed.map(({ name, type }) => [name, /int/i.test(type) ? 1 : name]));
    const key = columns.find(({ pk, type }) => pk === 1 && !/int/i.test(type));
    if (key) values.set(key.name, table === 'settings' ? 'smtp.password' : key.name);
    values.set(sealed, own.seal('to be replaced', 'anything'));
    // Of some there is one row, which is there from the beginning.
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(kysely);
    if (rows[0]?.count === 1) {
      await sql`update ${sql.table(table)} set ${sql.ref(sealed)} = ${values.get(sealed)}`.execute(kysely);
    } else {
      const names = sql.join([...values.keys()].map((name) => sql.ref(name)));
      await sql`insert into ${sql.table(table)} (${names}) values (${sql.join([...values.values()])})`.execute(kysely);
    }
  }
  return transact(async (tx) => {
    const contexts: string[] = [];
    for (const [place, texts] of Object.entries(SEALED_PLACES)) {
      for await (const { context, replace } of texts(tx)) {
        await replace(own.seal(`secret of ${place}`, context));
        contexts.push(context);
      }
    }
    return contexts;
  });
};

const readEverywhere = ({ transact }: Database) =>
  transact(async (tx) => {
    const found: { place: string; context: string; sealed: string }[] = [];
    for (const [place, texts] of Object.entries(SEALED_PLACES))
      for await (const { context, sealed } of texts(tx)) found.push({ place, context, sealed });
    return found;
  });

test('a rotation and an adoption leave out no place that holds secrets', () =>
  withStore(async (database) => {
    const contexts = await givenEverywhere(database);
    const places = Object.keys(SEALED_PLACES);
    // One each, and none of them opens what another holds.
    expect(new Set(contexts).size).toBe(places.length);
    const rotation = { from: own, to: foreign, record: async () => {}, install: () => {} };
    expect(await rotateKeys(database, rotation)).toBe(places.length);
    const rotated = await readEverywhere(database);
    expect(rotated.map(({ place, context, sealed }) => [place, foreign.open(sealed, context)])).toEqual(
      places.map((place) => [place, `secret of ${place}`]),
    );
    const { transact } = database;
    const countOf = (vault: typeof own) => transact((tx) => countSealedWith(tx, vault.keyId));
    expect([await countOf(foreign), await countOf(own)]).toEqual([places.length, 0]);
    expect(await adopt(database, FOREIGN)).toBe(places.length);
    for (const { place, context, sealed } of await readEverywhere(database))
      expect(own.open(sealed, context)).toBe(`secret of ${place}`);
  }));
