import type { CreateTableBuilder, Kysely } from 'kysely';
import type { Database } from '../open.ts';
import type { Tables } from '../tables.ts';

const withId = <T extends string>(table: CreateTableBuilder<T>, kind: Database['kind']) =>
  kind === 'sqlite'
    ? table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
    : table.addColumn('id', 'serial', (column) => column.primaryKey());

const policies = async (db: Kysely<Tables>): Promise<void> => {
  await db.schema
    .createTable('security_config')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('admin_whitelist', 'text', (column) => column.notNull())
    .addColumn('crowdsec_mode', 'text', (column) => column.notNull())
    .addColumn('waf_mode', 'text', (column) => column.notNull())
    .addColumn('waf_rules_source', 'text', (column) => column.notNull())
    .addColumn('webhook_url', 'text', (column) => column.notNull())
    .addColumn('rate_limit_requests', 'integer', (column) => column.notNull())
    .addColumn('rate_limit_window_sec', 'integer', (column) => column.notNull())
    .addColumn('rate_limit_burst', 'integer', (column) => column.notNull())
    .addColumn('rate_limit_bypass_list', 'text', (column) => column.notNull())
    .addColumn('waf_paranoia_level', 'integer', (column) => column.notNull())
    .addColumn('waf_anomaly_threshold', 'integer', (column) => column.notNull())
    .addColumn('waf_fail_mode', 'text', (column) => column.notNull())
    .addColumn('waf_exclusions', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();

  await db.schema
    .createTable('break_glass_tokens')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('token_hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .execute();

  await db.schema
    .createTable('notification_settings')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('enabled', 'integer', (column) => column.notNull())
    .addColumn('min_log_level', 'text', (column) => column.notNull())
    .addColumn('notify_waf_blocks', 'integer', (column) => column.notNull())
    .addColumn('notify_acl_denials', 'integer', (column) => column.notNull())
    .addColumn('notify_rate_limit_hits', 'integer', (column) => column.notNull())
    .addColumn('webhook_url', 'text', (column) => column.notNull())
    .addColumn('email_recipients', 'text', (column) => column.notNull())
    .addColumn('webhook_format', 'text', (column) => column.notNull())
    .addColumn('webhook_template', 'text', (column) => column.notNull())
    .addColumn('webhook_secret_sealed', 'text')
    .execute();
};

export const up = async (db: Kysely<Tables>, kind: Database['kind']): Promise<void> => {
  await policies(db);

  await withId(db.schema.createTable('decisions'), kind)
    .addColumn('uuid', 'text', (column) => column.notNull().unique())
    .addColumn('ip', 'text', (column) => column.notNull())
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('details', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'text')
    .execute();
  await db.schema.createIndex('decisions_ip').on('decisions').column('ip').execute();
  await db.schema.createIndex('decisions_expiry').on('decisions').column('expires_at').execute();
  await db.schema
    .createTable('decision_versions')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('version', 'integer', (column) => column.notNull())
    .execute();
  await db.insertInto('decision_versions').values({ id: 1, version: 0 }).execute();

  await withId(db.schema.createTable('rulesets'), kind)
    .addColumn('uuid', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('source_url', 'text', (column) => column.notNull())
    .addColumn('mode', 'text', (column) => column.notNull())
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('rule_count', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();

  await withId(db.schema.createTable('access_lists'), kind)
    .addColumn('uuid', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('rules', 'text', (column) => column.notNull())
    .addColumn('countries', 'text', (column) => column.notNull())
    .addColumn('local_network_only', 'integer', (column) => column.notNull())
    .addColumn('enabled', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'text', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('proxy_hosts_access_list').on('proxy_hosts').column('access_list_id').execute();
  await db.schema.createIndex('proxy_hosts_waf').on('proxy_hosts').column('waf_enabled').execute();

  await withId(db.schema.createTable('security_blocks'), kind)
    .addColumn('reference', 'text', (column) => column.notNull().unique())
    .addColumn('host_id', 'integer')
    .addColumn('entry', 'text', (column) => column.notNull())
    .execute();
};
