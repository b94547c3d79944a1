import type { CreateTableBuilder, Kysely } from 'kysely';
import type { Database } from '../open.ts';
import type { Tables } from '../tables.ts';

const withId = <T extends string>(table: CreateTableBuilder<T>, kind: Database['kind']) =>
  kind === 'sqlite'
    ? table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    : table.addColumn('id', 'serial', (column) => column.primaryKey());

export const up = async (db: Kysely<Tables>, kind: Database['kind']): Promise<void> => {
  await withId(db.schema.createTable('certificates'), kind)
    .addColumn('uuid', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('provider', 'text', (column) => column.notNull())
    .addColumn('domains', 'text', (column) => column.notNull())
    .addColumn('chain_pem', 'text', (column) => column.notNull())
    .addColumn('key_sealed', 'text', (column) => column.notNull())
    .addColumn('not_before', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();

  await withId(db.schema.createTable('remote_servers'), kind)
    .addColumn('uuid', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('provider', 'text', (column) => column.notNull())
    .addColumn('host', 'text', (column) => column.notNull())
    .addColumn('port', 'integer', (column) => column.notNull())
    .addColumn('enabled', 'integer', (column) => column.notNull())
    .addColumn('reachable', 'integer', (column) => column.notNull())
    .addColumn('last_checked', 'text')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();

  await withId(db.schema.createTable('proxy_hosts'), kind)
    .addColumn('uuid', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('domain', 'text', (column) => column.notNull())
    .addColumn('forward_scheme', 'text', (column) => column.notNull())
    .addColumn('forward_host', 'text', (column) => column.notNull())
    .addColumn('forward_port', 'integer', (column) => column.notNull())
    .addColumn('ssl_forced', 'integer', (column) => column.notNull())
    .addColumn('http2_support', 'integer', (column) => column.notNull())
    .addColumn('hsts_enabled', 'integer', (column) => column.notNull())
    .addColumn('hsts_subdomains', 'integer', (column) => column.notNull())
    .addColumn('block_exploits', 'integer', (column) => column.notNull())
    .addColumn('websocket_support', 'integer', (column) => column.notNull())
    .addColumn('enabled', 'integer', (column) => column.notNull())
    .addColumn('enable_standard_headers', 'integer', (column) => column.notNull())
    .addColumn('forward_verify_tls', 'integer', (column) => column.notNull())
    .addColumn('forward_http2', 'integer', (column) => column.notNull())
    .addColumn('waf_enabled', 'integer', (column) => column.notNull())
    // Without an action on delete: what a host uses can't go.
    .addColumn('remote_server_id', 'integer', (column) => column.references('remote_servers.id'))
    .addColumn('certificate_id', 'integer', (column) => column.references('certificates.id'))
    .addColumn('access_list_id', 'integer')
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('proxy_hosts_certificate').on('proxy_hosts').column('certificate_id').execute();
  await db.schema.createIndex('proxy_hosts_remote_server').on('proxy_hosts').column('remote_server_id').execute();

  await db.schema
    .createTable('proxy_host_names')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('proxy_host_id', 'integer', (column) =>
      column.notNull().references('proxy_hosts.id').onDelete('cascade'),
    )
    .execute();
  await db.schema.createIndex('proxy_host_names_host').on('proxy_host_names').column('proxy_host_id').execute();

  await db.schema
    .createTable('origin_addresses')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('resolved_at', 'text', (column) => column.notNull())
    .execute();

  await db.schema
    .createTable('settings')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('value', 'text', (column) => column.notNull())
    .execute();

  await db.schema
    .createTable('revisions')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .execute();
  await db.insertInto('revisions').values({ id: 1, revision: 0 }).execute();
};
