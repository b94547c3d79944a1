import { SETTINGS } from '@sallyport/contract';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { migrate } from '../database/migrate.ts';
import { type Database, openDatabase } from '../database/open.ts';
import * as contexts from './contexts.ts';
import { countSealedWith, rotateKeys, SEALED_PLACES } from './rotate-keys.ts';
import { createVault } from './vault.ts';

const [from, to] = [createVault('o'.repeat(32)), createVault('n'.repeat(32))];
const settingThat = (isSecret: boolean) =>
  Object.entries(SETTINGS).find(([, definition]) => 'isSecret' in definition === isSecret)?.[0] ?? '';
const [SECRET_SETTING, PLAIN_SETTING] = [settingThat(true), settingThat(false)];

/** Rows of each table with sealed texts, two where it takes them: what they are called, and what each column is sealed for. */
const ROWS: readonly [table: string, row: Record<string, string | number>, sealed: Record<string, string>][] = [
  ...[1, 2].flatMap((id): (typeof ROWS)[number][] => [
    ['certificates', { id, uuid: `c${id}` }, { key_sealed: contexts.certificateKeyContext(`c${id}`) }],
    ['certificate_orders', { certificate_id: id }, { order_key_sealed: contexts.orderKeyContext(id) }],
    [
      'acme_accounts',
      { id, uuid: `a${id}`, name: `a${id}` },
      { key_sealed: contexts.acmeAccountContext(`a${id}`), eab_hmac_sealed: contexts.eabContext(`a${id}`) },
    ],
    [
      'dns_providers',
      { id, uuid: `d${id}`, name: `d${id}` },
      { secrets_sealed: contexts.dnsProviderContext(`d${id}`) },
    ],
    ['users', { id, email: `u${id}@example.com` }, { totp_sealed: contexts.totpContext(id) }],
    ['idempotency_keys', { id: `k${id}` }, { answer_sealed: contexts.answerContext(`k${id}`) }],
    [
      'history',
      { id, batch: `b${id}`, resource: `r${id}` },
      { secrets_sealed: contexts.historyContext(`b${id}`, `r${id}`) },
    ],
    [
      'import_sessions',
      { uuid: `i${id}` },
      {
        files_sealed: contexts.importContext(`i${id}`, 'files'),
        reading_sealed: contexts.importContext(`i${id}`, 'reading'),
      },
    ],
  ]),
  // These have no secret.
  ['certificate_orders', { certificate_id: 3 }, {}],
  ['acme_accounts', { id: 3, uuid: 'a3', name: 'a3' }, { key_sealed: contexts.acmeAccountContext('a3') }],
  ['users', { id: 3, email: 'u3@example.com' }, {}],
  ['history', { id: 3, batch: 'b3', resource: 'r3' }, {}],
  ['import_sessions', { uuid: 'i3' }, {}],
  ['settings', { key: PLAIN_SETTING, value: 'no secret' }, {}],
  ['internal_ca', { id: 1 }, { key_sealed: contexts.INTERNAL_CA_CONTEXT }],
  ['audit_chain', {}, { key_sealed: contexts.CHAIN_KEY_CONTEXT }],
  ['notification_settings', {}, { webhook_secret_sealed: 'notifications:webhook_secret' }],
  ['console_enrollments', { machine_login: 'm' }, { password_sealed: contexts.consoleContext('m') }],
  ['settings', { key: SECRET_SETTING }, { value: contexts.settingContext(SECRET_SETTING) }],
];
const ALL = ROWS.flatMap(([table, , sealed]) => Object.keys(sealed).map((column) => `${table}.${column}`));

/** Puts other texts in every row of a place that has one. */
const fill = async (database: Database, place: string, textFor: (context: string) => string) => {
  for (const [table, row, sealed] of ROWS) {
    for (const [column, context] of Object.entries(sealed)) {
      if (`${table}.${column}` !== place) continue;
      const [[key, value] = []] = Object.entries(row);
      const set = sql`update ${sql.table(table)} set ${sql.ref(column)} = ${textFor(context)}`;
      await (key === undefined ? set : sql`${set} where ${sql.ref(key)} = ${value}`).execute(database.kysely);
    }
  }
};

/** A store with something in every place, sealed with the old key; what a row needs besides is made up. */
const withSecrets = (work: (database: Database) => Promise<void>) =>
  withTemporaryDirectory(async (dataDir) => {
    const database = openDatabase({ dataDir, databaseUrl: undefined });
    try {
      await migrate(database);
      await sql`pragma foreign_keys = off`.execute(database.kysely);
      for (const [table, row, sealed] of ROWS) {
        const columns = await sql<{
          name: string;
          notnull: number;
          dflt_value: string | null;
          type: string;
          pk: number;
        }>`
          select * from pragma_table_info(${table})`.execute(database.kysely);
        const needed = columns.rows.filter(
          ({ notnull, dflt_value, pk, type }) =>
            notnull === 1 && dflt_value === null && !(pk === 1 && type === 'INTEGER'),
        );
        const values = {
          ...Object.fromEntries(needed.map(({ name, type }) => [name, type.toUpperCase() === 'TEXT' ? 'x' : 1])),
          ...row,
          ...Object.fromEntries(
            Object.entries(sealed).map(([column, context]) => [column, from.seal(context, context)]),
          ),
        };
        const isThere = table === 'audit_chain';
        const entries = Object.entries(values);
        await (isThere
          ? sql`update audit_chain set ${sql.join(entries.map(([name, value]) => sql`${sql.ref(name)} = ${value}`))}`
          : sql`insert into ${sql.table(table)} (${sql.join(entries.map(([name]) => sql.ref(name)))}) values (${sql.join(entries.map(([, value]) => value))})`
        ).execute(database.kysely);
      }
      await work(database);
    } finally {
      await database.stop();
    }
  });

const sealedTexts = (database: Database) =>
  database.transact(async (tx) => {
    const texts: { place: string; sealed: string; context: string }[] = [];
    for (const [place, read] of Object.entries(SEALED_PLACES))
      for await (const { sealed, context } of read(tx)) texts.push({ place, sealed, context });
    return texts;
  });

test('every sealed text of every place is sealed anew for what it belongs to; what is no secret stays as it is', () =>
  withSecrets(async (database) => {
    expect([...new Set(ALL)].sort()).toEqual(Object.keys(SEALED_PLACES).sort());
    const told: string[] = [];
    const count = await rotateKeys(database, {
      ...{ from, to },
      install: () => void told.push('install'),
      record: async () => void told.push('record'),
    });
    expect([count, told]).toEqual([ALL.length, ['record', 'install']]);
    const texts = await sealedTexts(database);
    expect(texts.map(({ place }) => place).sort()).toEqual([...ALL].sort());
    for (const { place, sealed, context } of texts) expect(to.open(sealed, context), place).toBe(context);
    expect(await countSealedWith(database.kysely, from.keyId)).toBe(0);
    expect(await countSealedWith(database.kysely, to.keyId)).toBe(ALL.length);
  }));

test('nothing is changed, and no key put in place, when one text of any place can not be opened', () =>
  withSecrets(async (database) => {
    const rotation = { from, to, install: () => expect.unreachable('the key is put in place'), record: async () => {} };
    for (const place of new Set(ALL)) {
      await fill(database, place, () => to.seal('x', 'another'));
      const before = await sealedTexts(database);
      await expect(rotateKeys(database, rotation), place).rejects.toThrow('but the key in use is');
      expect(await sealedTexts(database)).toEqual(before);
      const broken = before.filter((text) => text.place === place);
      for (const { sealed } of broken) expect(sealed).toContain(to.keyId);
      expect(await countSealedWith(database.kysely, to.keyId)).toBe(broken.length);
      await fill(database, place, (context) => from.seal(context, context));
    }
  }));
