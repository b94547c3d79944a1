import type { Tables } from '../database/tables.ts';

/** What a store that is in use makes of a table when a snapshot is put into it. */
export type OnRestore =
  /** The snapshot's rows, and no others. */
  | 'replace'
  /** The rows that are there, and those of the snapshot that are missing. */
  | 'add'
  /** Left as it is. Only a store that nobody has used yet takes the snapshot's rows. */
  | 'leave';

export interface TableRule {
  /** Columns of the primary key: rows are read in its order. */
  key: readonly string[];
  /** Whether a backup holds it. A copy of a store to another database always does. */
  isKept: boolean;
  onRestore: OnRestore;
  /** Columns that PostgreSQL has as `bigint`, whose values its driver gives as text. */
  bigints?: readonly string[];
}

const CONFIGURATION = { isKept: true, onRestore: 'replace' } as const;
const LEFT_AS_IT_IS = { isKept: true, onRestore: 'leave' } as const;
const LEFT_OUT = { isKept: false, onRestore: 'leave' } as const;

/**
 * Every table, in an order that satisfies foreign keys when the rows are put back.
 *
 * A restore changes what the proxy does and never who may do what: accounts, tokens and passwords of a store in use stay
 * as they are, for a password that was changed, a token that was revoked and a user who was disabled since must not come
 * back. So does what was written down since: the audit trail goes on. Bans are added: none that is in force ends by it.
 *
 * Left out of backups is what no restored store may bring back: sign-ins, explanations of refusals, answers to requests,
 * imports under way, and counters that others compare with what they saw.
 */
export const TABLES: Readonly<Record<keyof Tables, TableRule>> = {
  users: { key: ['id'], ...LEFT_AS_IT_IS },
  recovery_codes: { key: ['user_id', 'code_hash'], ...LEFT_AS_IT_IS },
  invites: { key: ['id'], ...LEFT_AS_IT_IS },
  api_tokens: { key: ['id'], ...LEFT_AS_IT_IS },
  acme_accounts: { key: ['id'], ...CONFIGURATION },
  dns_providers: { key: ['id'], ...CONFIGURATION },
  internal_ca: { key: ['id'], ...CONFIGURATION },
  certificates: { key: ['id'], ...CONFIGURATION },
  certificate_orders: { key: ['certificate_id'], ...CONFIGURATION },
  // What was revoked since stays so.
  revoked_certificates: { key: ['fingerprint'], isKept: true, onRestore: 'add' },
  // What was asked of an authority since counts on.
  order_ledger: { key: ['id'], isKept: true, onRestore: 'add' },
  remote_servers: { key: ['id'], ...CONFIGURATION },
  access_lists: { key: ['id'], ...CONFIGURATION },
  proxy_hosts: { key: ['id'], ...CONFIGURATION },
  proxy_host_names: { key: ['name'], ...CONFIGURATION },
  origin_addresses: { key: ['name'], isKept: true, onRestore: 'add' },
  settings: { key: ['key'], ...CONFIGURATION },
  security_config: { key: ['id'], ...CONFIGURATION },
  // One that was used up must not be good a second time.
  break_glass_tokens: { key: ['id'], ...LEFT_AS_IT_IS },
  decisions: { key: ['id'], isKept: true, onRestore: 'add' },
  rulesets: { key: ['id'], ...CONFIGURATION },
  preset_events: { key: ['id'], ...CONFIGURATION },
  notification_settings: { key: ['id'], ...CONFIGURATION },
  // What was un-enrolled since must not send anything again.
  console_enrollments: { key: ['id'], ...LEFT_AS_IT_IS },
  audit_logs: { key: ['id'], ...LEFT_AS_IT_IS },
  audit_chain: { key: ['id'], ...LEFT_AS_IT_IS },
  history: { key: ['id'], ...LEFT_AS_IT_IS },
  sessions: { key: ['id'], ...LEFT_OUT },
  confirmations: { key: ['id'], ...LEFT_OUT },
  security_blocks: { key: ['id'], ...LEFT_OUT, bigints: ['at_ms'] },
  idempotency_keys: { key: ['id'], ...LEFT_OUT },
  // What was uploaded may hold secrets of another proxy, and is of no use once it is imported.
  import_sessions: { key: ['uuid'], ...LEFT_OUT },
  // What a store asks an authority for is its own business.
  revocations: { key: ['fingerprint'], ...LEFT_OUT },
  // Good for minutes.
  acme_challenges: { key: ['token'], ...LEFT_OUT },
  // Proofs of another machine.
  emergency_drills: { key: ['id'], ...LEFT_OUT },
  // A store that is put back has made no backup yet.
  backup_schedule: { key: ['id'], ...LEFT_OUT },
  decision_versions: { key: ['id'], ...LEFT_OUT },
  revisions: { key: ['id'], ...LEFT_OUT, bigints: ['revision'] },
};

export type TableName = keyof Tables;

export const ALL_TABLES = Object.keys(TABLES) as TableName[];

/** What a backup holds, in the order in which it is put back. */
export const KEPT_TABLES = ALL_TABLES.filter((table) => TABLES[table].isKept);
