import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import type { Database } from '../open.ts';
import type { Tables } from '../tables.ts';

const withTimes = <T extends string>(table: CreateTableBuilder<T>) =>
  table
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull());

/** Certificates that are ordered: accounts, DNS providers, orders, what was asked of an authority, and our own authority. */
export const up = async (db: Kysely<Tables>, kind: Database['kind']): Promise<void> => {
  const table = <T extends string>(name: T) =>
    kind === 'sqlite'
      ? db.schema.createTable(name).addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
      : db.schema.createTable(name).addColumn('id', 'serial', (column) => column.primaryKey());

  await withTimes(
    table('acme_accounts')
      .addColumn('uuid', 'text', (column) => column.notNull().unique())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('directory_url', 'text', (column) => column.notNull())
      .addColumn('email', 'text', (column) => column.notNull())
      .addColumn('terms_agreed', 'integer', (column) => column.notNull())
      .addColumn('key_sealed', 'text', (column) => column.notNull())
      .addColumn('account_url', 'text')
      .addColumn('eab_kid', 'text')
      .addColumn('eab_hmac_sealed', 'text')
      .addColumn('ca_certificate', 'text'),
  ).execute();

  await withTimes(
    table('dns_providers')
      .addColumn('uuid', 'text', (column) => column.notNull().unique())
      .addColumn('name', 'text', (column) => column.notNull().unique())
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('fields', 'text', (column) => column.notNull())
      .addColumn('secrets_sealed', 'text'),
  ).execute();

  await db.schema
    .alterTable('certificates')
    .addColumn('is_placeholder', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable('certificates').addColumn('expiry_told', 'text').execute();
  await db.schema
    .alterTable('proxy_hosts')
    .addColumn('auto_certificate', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  // Few of a million hosts: whoever looks after them must not read all.
  await sql`create index proxy_hosts_auto on proxy_hosts (id) where auto_certificate = 1`.execute(db);

  await withTimes(
    db.schema
      .createTable('certificate_orders')
      .addColumn('certificate_id', 'integer', (column) =>
        column.primaryKey().references('certificates.id').onDelete('cascade'),
      )
      .addColumn('issuer', 'text', (column) => column.notNull())
      .addColumn('account_id', 'integer', (column) => column.references('acme_accounts.id'))
      .addColumn('dns_provider_id', 'integer', (column) => column.references('dns_providers.id'))
      .addColumn('challenge', 'text')
      .addColumn('key_type', 'text', (column) => column.notNull())
      .addColumn('names', 'text', (column) => column.notNull())
      .addColumn('is_auto', 'integer', (column) => column.notNull())
      .addColumn('order_url', 'text')
      .addColumn('order_key_sealed', 'text')
      .addColumn('steps', 'text', (column) => column.notNull())
      .addColumn('issue', 'text')
      .addColumn('problem', 'text')
      .addColumn('failures', 'integer', (column) => column.notNull())
      .addColumn('last_attempt_at', 'text')
      .addColumn('next_attempt_at', 'text')
      .addColumn('renew_after', 'text')
      .addColumn('ari_checked_until', 'text')
      .addColumn('leased_by', 'text', (column) => column.notNull())
      .addColumn('leased_until', 'text', (column) => column.notNull()),
  ).execute();
  await db.schema.createIndex('certificate_orders_next').on('certificate_orders').column('next_attempt_at').execute();

  await table('order_ledger')
    .addColumn('directory_url', 'text', (column) => column.notNull())
    .addColumn('account_url', 'text', (column) => column.notNull())
    .addColumn('names', 'text', (column) => column.notNull())
    .addColumn('registered_domains', 'text', (column) => column.notNull())
    .addColumn('is_renewal', 'integer', (column) => column.notNull())
    .addColumn('outcome', 'text', (column) => column.notNull())
    .addColumn('ordered_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('order_ledger_time').on('order_ledger').column('ordered_at').execute();

  await db.schema
    .createTable('acme_challenges')
    .addColumn('token', 'text', (column) => column.primaryKey())
    .addColumn('key_authorization', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .execute();

  await db.schema
    .createTable('internal_ca')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('root_pem', 'text', (column) => column.notNull())
    .addColumn('key_sealed', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();
};
