import type { Generated } from 'kysely';
import type { AccountTables } from './account-tables.ts';
import type { AcmeTables } from './acme-tables.ts';
import type { AuditTables } from './audit-tables.ts';
import type { HistoryTables } from './history-tables.ts';
import type { IdempotencyTables } from './idempotency-tables.ts';
import type { ImportTables } from './import-tables.ts';
import type { SecurityTables } from './security-tables.ts';

/** Booleans are 0/1 and timestamps ISO text in both databases, because SQLite has neither type. */
type Flag = number;
type IsoTime = string;

export interface ProxyHostRow {
  id: Generated<number>;
  uuid: string;
  name: string;
  domain: string;
  forward_scheme: string;
  forward_host: string;
  forward_port: number;
  ssl_forced: Flag;
  http2_support: Flag;
  hsts_enabled: Flag;
  hsts_subdomains: Flag;
  block_exploits: Flag;
  websocket_support: Flag;
  enabled: Flag;
  enable_standard_headers: Flag;
  forward_verify_tls: Flag;
  forward_http2: Flag;
  waf_enabled: Flag;
  waf_inspect_responses: Generated<Flag>;
  forward_reserved: Generated<Flag>;
  /** Whether it gets a certificate by itself when none that is there fits. */
  auto_certificate: Generated<Flag>;
  waf_allowed_methods: string | null;
  waf_allowed_content_types: string | null;
  waf_body_limit: number | null;
  remote_server_id: number | null;
  certificate_id: number | null;
  access_list_id: number | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** One row a domain name: its primary key is what makes a name belong to one host only. */
export interface ProxyHostNameRow {
  name: string;
  proxy_host_id: number;
}

export interface RemoteServerRow {
  id: Generated<number>;
  uuid: string;
  name: string;
  provider: string;
  host: string;
  port: number;
  enabled: Flag;
  reachable: Flag;
  last_checked: IsoTime | null;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface CertificateRow {
  id: Generated<number>;
  uuid: string;
  name: string;
  provider: string;
  domains: string;
  /** Leaf first, then intermediates, PEM. */
  chain_pem: string;
  /** The private key's PEM, sealed by `secrets/vault.ts`. */
  key_sealed: string;
  not_before: IsoTime;
  expires_at: IsoTime;
  /** Self-signed, until what was ordered is there: never served for a name by itself. */
  is_placeholder: Generated<Flag>;
  /** Which warning of its expiry was told last; null: none. */
  expiry_told: Generated<string | null>;
  /** When its authority took it back, for us; null: not that we know. */
  revoked_at: Generated<IsoTime | null>;
  created_at: IsoTime;
}

/** Last good address of an origin that is given by name. */
export interface OriginAddressRow {
  name: string;
  address: string;
  resolved_at: IsoTime;
}

export interface SettingRow {
  key: string;
  value: string;
}

/** Row 1: every change that the data plane must see raises `revision` in its own transaction. Row 2: see `restores.ts`. */
export interface RevisionRow {
  id: number;
  revision: number;
}

/** One row, see its store. Empty texts: never, and nobody. */
export interface BackupScheduleRow {
  id: number;
  made_at: IsoTime;
  leased_until: IsoTime;
}

export interface Tables
  extends AccountTables,
    AcmeTables,
    AuditTables,
    HistoryTables,
    IdempotencyTables,
    ImportTables,
    SecurityTables {
  proxy_hosts: ProxyHostRow;
  proxy_host_names: ProxyHostNameRow;
  remote_servers: RemoteServerRow;
  certificates: CertificateRow;
  origin_addresses: OriginAddressRow;
  settings: SettingRow;
  backup_schedule: BackupScheduleRow;
  revisions: RevisionRow;
}
