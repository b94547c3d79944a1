import type { Generated } from 'kysely';

type Flag = number;
type IsoTime = string;

/** One row, absent until something is configured. */
export interface SecurityConfigRow {
  id: number;
  name: string;
  admin_whitelist: string;
  crowdsec_mode: string;
  waf_mode: string;
  waf_rules_source: string;
  webhook_url: string;
  rate_limit_requests: number;
  rate_limit_window_sec: number;
  rate_limit_burst: number;
  rate_limit_bypass_list: string;
  waf_paranoia_level: number;
  waf_anomaly_threshold: number;
  waf_fail_mode: string;
  waf_allowed_methods: string;
  waf_allowed_content_types: string;
  waf_body_limit: number;
  /** JSON. */
  waf_exclusions: string;
  updated_at: IsoTime;
}

/** At most one row: generating a token voids the one before. */
export interface BreakGlassTokenRow {
  id: number;
  token_hash: string;
  created_at: IsoTime;
}

export interface DecisionRow {
  id: Generated<number>;
  uuid: string;
  /** Canonical address or CIDR range. */
  ip: string;
  action: string;
  details: string;
  source: string;
  created_at: IsoTime;
  expires_at: IsoTime | null;
}

/** One row. Every change of decisions raises it, so that other nodes notice without reading them all. */
export interface DecisionVersionRow {
  id: number;
  version: number;
}

export interface RulesetRow {
  id: Generated<number>;
  uuid: string;
  name: string;
  source_url: string;
  mode: string;
  content: string;
  rule_count: number;
  created_at: IsoTime;
  updated_at: IsoTime;
}

export interface AccessListRow {
  id: Generated<number>;
  uuid: string;
  name: string;
  description: string;
  type: string;
  /** JSON. */
  rules: string;
  /** JSON. */
  countries: string;
  local_network_only: Flag;
  enabled: Flag;
  created_at: IsoTime;
  updated_at: IsoTime;
}

/** One row, absent until configured. */
export interface NotificationSettingsRow {
  id: number;
  enabled: Flag;
  min_log_level: string;
  notify_waf_blocks: Flag;
  notify_acl_denials: Flag;
  notify_rate_limit_hits: Flag;
  webhook_url: string;
  email_recipients: string;
  webhook_format: string;
  webhook_template: string;
  /** Sealed by `secrets/vault.ts`; null when deliveries are not signed. */
  webhook_secret_sealed: string | null;
}

export interface BlockRow {
  id: Generated<number>;
  reference: string;
  host_id: number | null;
  layer: string;
  /** Lower case, as `host` of the query. */
  host: string;
  ip: string;
  /** When it happened, in milliseconds since the epoch; 0 when an entry of an earlier version does not tell. PostgreSQL's driver gives text. */
  at_ms: Generated<number>;
  monitored: Generated<Flag>;
  rule_id: Generated<number | null>;
  /** ISO 3166-1 code of `ip` when it was kept; empty: not looked up yet, `-`: not known. */
  country: Generated<string>;
  /** JSON. */
  entry: string;
}

/** One row: what is known of the drills of the emergency path. */
export interface EmergencyDrillRow {
  id: number;
  /** When a drill can have been due at the earliest. */
  since: IsoTime;
  tried_at: IsoTime | null;
  proven_at: IsoTime | null;
  /** When somebody was last told that it is long ago. */
  told_at: IsoTime | null;
}

/** A preset of CrowdSec was applied or taken back; the last one about it counts. */
export interface PresetEventRow {
  id: Generated<number>;
  /** As the hub names it: `author/name`. */
  preset: string;
  applied: Flag;
  /** See `actorName`. */
  actor: string;
  created_at: IsoTime;
}

/** At most one row, with the id 1: CrowdSec is enrolled at its console. */
export interface ConsoleEnrollmentRow {
  id: number;
  /** Base URL of the central API that knows the machine. */
  url: string;
  name: string;
  /** JSON. */
  tags: string;
  machine_login: string;
  /** Sealed by `secrets/vault.ts`. */
  password_sealed: string;
  created_at: IsoTime;
}

export interface SecurityTables {
  security_config: SecurityConfigRow;
  break_glass_tokens: BreakGlassTokenRow;
  decisions: DecisionRow;
  decision_versions: DecisionVersionRow;
  rulesets: RulesetRow;
  access_lists: AccessListRow;
  notification_settings: NotificationSettingsRow;
  security_blocks: BlockRow;
  emergency_drills: EmergencyDrillRow;
  preset_events: PresetEventRow;
  console_enrollments: ConsoleEnrollmentRow;
}
