import { SETTINGS, type SettingDefinition } from '@sallyport/contract';
import { sql } from 'kysely';
import type { Database, Executor } from '../database/open.ts';
import type { Tables } from '../database/tables.ts';
import {
  acmeAccountContext,
  answerContext,
  CHAIN_KEY_CONTEXT,
  certificateKeyContext,
  consoleContext,
  dnsProviderContext,
  eabContext,
  historyContext,
  INTERNAL_CA_CONTEXT,
  importContext,
  orderKeyContext,
  settingContext,
  totpContext,
} from './contexts.ts';
import { keyIdOf, type Vault } from './vault.ts';

/** One sealed text in the store, and how to replace it. */
interface SealedText {
  sealed: string;
  context: string;
  replace(sealed: string): Promise<unknown>;
}

/** The sealed texts of one column, bound to what `name` says of their row. */
async function* ofColumn<Name extends string | number>(
  tx: Executor,
  [table, key, column]: readonly [keyof Tables, string, string],
  contextOf: (name: Name) => string,
): AsyncGenerator<SealedText> {
  const { rows } = await sql<{ name: Name; sealed: string }>`
    select ${sql.ref(key)} as name, ${sql.ref(column)} as sealed from ${sql.table(table)}
    where ${sql.ref(column)} is not null order by ${sql.ref(key)}
  `.execute(tx);
  for (const { name, sealed } of rows) {
    yield {
      sealed,
      context: contextOf(name),
      replace: (text) =>
        sql`update ${sql.table(table)} set ${sql.ref(column)} = ${text} where ${sql.ref(key)} = ${name}`.execute(tx),
    };
  }
}

/** A sealed text of each import that has one; one at a time, for it may be many megabytes. */
async function* ofImports(tx: Executor, what: 'files' | 'reading'): AsyncGenerator<SealedText> {
  const column = `${what}_sealed` as const;
  const rows = await tx.selectFrom('import_sessions').select('uuid').where(column, 'is not', null).execute();
  for (const { uuid } of rows) {
    const row = await tx.selectFrom('import_sessions').select(column).where('uuid', '=', uuid).executeTakeFirst();
    const sealed = (row as Partial<Record<typeof column, string | null>> | undefined)?.[column];
    if (sealed === null || sealed === undefined) continue;
    yield {
      sealed,
      context: importContext(uuid, what),
      replace: (text) =>
        tx
          .updateTable('import_sessions')
          .set({ [column]: text })
          .where('uuid', '=', uuid)
          .execute(),
    };
  }
}

/** Every place of the store that holds sealed texts, by table and column. A new one belongs here, or rotation loses it. */
export const SEALED_PLACES: Readonly<Record<string, (tx: Executor) => AsyncGenerator<SealedText>>> = {
  async *'certificates.key_sealed'(tx) {
    const ids = await tx.selectFrom('certificates').select('id').orderBy('id').execute();
    // One at a time: keys of a large store needn't all be in memory.
    for (const { id } of ids) {
      const row = await tx
        .selectFrom('certificates')
        .select(['uuid', 'key_sealed'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      yield {
        sealed: row.key_sealed,
        context: certificateKeyContext(row.uuid),
        replace: (key_sealed) => tx.updateTable('certificates').set({ key_sealed }).where('id', '=', id).execute(),
      };
    }
  },
  'certificate_orders.order_key_sealed': (tx) =>
    ofColumn(tx, ['certificate_orders', 'certificate_id', 'order_key_sealed'], orderKeyContext),
  'acme_accounts.key_sealed': (tx) => ofColumn(tx, ['acme_accounts', 'uuid', 'key_sealed'], acmeAccountContext),
  'acme_accounts.eab_hmac_sealed': (tx) => ofColumn(tx, ['acme_accounts', 'uuid', 'eab_hmac_sealed'], eabContext),
  'dns_providers.secrets_sealed': (tx) => ofColumn(tx, ['dns_providers', 'uuid', 'secrets_sealed'], dnsProviderContext),
  'internal_ca.key_sealed': (tx) => ofColumn(tx, ['internal_ca', 'id', 'key_sealed'], () => INTERNAL_CA_CONTEXT),
  async *'users.totp_sealed'(tx) {
    const rows = await tx.selectFrom('users').select(['id', 'totp_sealed']).execute();
    for (const { id, totp_sealed: sealed } of rows) {
      if (sealed === null) continue;
      yield {
        sealed,
        context: totpContext(id),
        replace: (totp_sealed) => tx.updateTable('users').set({ totp_sealed }).where('id', '=', id).execute(),
      };
    }
  },
  async *'audit_chain.key_sealed'(tx) {
    const { key_sealed: sealed } = await tx.selectFrom('audit_chain').select('key_sealed').executeTakeFirstOrThrow();
    if (sealed === '') return;
    yield {
      sealed,
      context: CHAIN_KEY_CONTEXT,
      replace: (key_sealed) => tx.updateTable('audit_chain').set({ key_sealed }).execute(),
    };
  },
  async *'notification_settings.webhook_secret_sealed'(tx) {
    const row = await tx.selectFrom('notification_settings').select('webhook_secret_sealed').executeTakeFirst();
    if (!row?.webhook_secret_sealed) return;
    yield {
      sealed: row.webhook_secret_sealed,
      context: 'notifications:webhook_secret',
      replace: (webhook_secret_sealed) =>
        tx.updateTable('notification_settings').set({ webhook_secret_sealed }).execute(),
    };
  },
  async *'console_enrollments.password_sealed'(tx) {
    const row = await tx
      .selectFrom('console_enrollments')
      .select(['machine_login', 'password_sealed'])
      .executeTakeFirst();
    if (!row) return;
    yield {
      sealed: row.password_sealed,
      context: consoleContext(row.machine_login),
      replace: (password_sealed) => tx.updateTable('console_enrollments').set({ password_sealed }).execute(),
    };
  },
  async *'idempotency_keys.answer_sealed'(tx) {
    for (const { id } of await tx.selectFrom('idempotency_keys').select('id').execute()) {
      const row = await tx
        .selectFrom('idempotency_keys')
        .select('answer_sealed')
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      yield {
        sealed: row.answer_sealed,
        context: answerContext(id),
        replace: (answer_sealed) =>
          tx.updateTable('idempotency_keys').set({ answer_sealed }).where('id', '=', id).execute(),
      };
    }
  },
  async *'history.secrets_sealed'(tx) {
    const ids = await tx.selectFrom('history').select('id').where('secrets_sealed', 'is not', null).execute();
    for (const { id } of ids) {
      const row = await tx
        .selectFrom('history')
        .select(['batch', 'resource', 'secrets_sealed'])
        .where('id', '=', id)
        .executeTakeFirst();
      if (!row?.secrets_sealed) continue;
      yield {
        sealed: row.secrets_sealed,
        context: historyContext(row.batch, row.resource),
        replace: (secrets_sealed) => tx.updateTable('history').set({ secrets_sealed }).where('id', '=', id).execute(),
      };
    }
  },
  'import_sessions.files_sealed': (tx) => ofImports(tx, 'files'),
  'import_sessions.reading_sealed': (tx) => ofImports(tx, 'reading'),
  async *'settings.value'(tx) {
    const definitions: Readonly<Record<string, SettingDefinition>> = SETTINGS;
    for (const { key, value } of await tx.selectFrom('settings').selectAll().execute()) {
      if (!definitions[key]?.isSecret) continue;
      yield {
        sealed: value,
        context: settingContext(key),
        replace: (sealed) => tx.updateTable('settings').set({ value: sealed }).where('key', '=', key).execute(),
      };
    }
  },
};

export interface Rotation {
  from: Pick<Vault, 'open'>;
  to: Pick<Vault, 'seal'>;
  /** Puts the new key in place. It runs before the commit, so it must keep the old key readable. */
  install: () => void;
  /** Writes the rotation down, before the audit chain's own key is sealed anew. */
  record: (tx: Executor) => Promise<void>;
}

/**
 * Seals every stored secret anew, all or none, while no other process can store one.
 * Returns how many were sealed; rejects, changing nothing, when one of them can't be opened.
 */
export const rotateKeys = ({ transact }: Pick<Database, 'transact'>, rotation: Rotation): Promise<number> =>
  transact(async (tx) => {
    const { from, to, install, record } = rotation;
    // Accounts and audit are changed under the chain's lock, which an entry takes; the rest under the revision's.
    await record(tx);
    let count = 0;
    for (const place of Object.values(SEALED_PLACES)) {
      for await (const { sealed, context, replace } of place(tx)) {
        await replace(to.seal(from.open(sealed, context), context));
        count += 1;
      }
    }
    install();
    return count;
  });

/** How many stored secrets the key `keyId` sealed: more than none after a rotation that was interrupted. */
export const countSealedWith = async (tx: Executor, keyId: string): Promise<number> => {
  let count = 0;
  for (const place of Object.values(SEALED_PLACES)) {
    for await (const { sealed } of place(tx)) if (keyIdOf(sealed) === keyId) count += 1;
  }
  return count;
};
