import { LOG_LEVELS, LogLevel } from './log-entry.ts';
import { choice, ignoring, REFUSAL, Timestamp } from './primitives.ts';
import { type Static, Type } from './schema.ts';

/** What the server assigns. */
const ASSIGNED = ['webhook_secret_set'];

export const WEBHOOK_FORMATS = ['auto', 'generic', 'discord', 'slack', 'gotify', 'template'] as const;

const fields = {
  enabled: Type.Boolean({ description: 'Master switch. Default false.' }),
  min_log_level: choice(LOG_LEVELS, {
    description: 'Less severe events are not sent. Default warn.',
    [REFUSAL]: `Invalid min_log_level. Must be one of: ${LOG_LEVELS.join(', ')}`,
  }),
  notify_waf_blocks: Type.Boolean({ description: 'Default true.' }),
  notify_acl_denials: Type.Boolean({ description: 'Default true.' }),
  notify_rate_limit_hits: Type.Boolean({ description: 'Default true.' }),
  webhook_url: Type.String({
    maxLength: 2_048,
    description: 'https URL that gets a POST for each event. Default: empty.',
  }),
  email_recipients: Type.String({
    maxLength: 8_192,
    description: 'Comma-separated addresses; they get mail once a mail server is configured (smtp.*). Default: empty.',
  }),
  webhook_format: Type.Unsafe<(typeof WEBHOOK_FORMATS)[number]>({
    type: 'string',
    enum: WEBHOOK_FORMATS,
    description:
      'auto: discord or slack by the host of webhook_url, else generic. template: what webhook_template makes. Default auto.',
  }),
  webhook_template: Type.String({
    maxLength: 16_384,
    description:
      'JSON in which {{Title}}, {{Message}}, {{EventType}}, {{Severity}}, {{HostName}} and {{Timestamp}} are filled in, ' +
      'inside string values. Default: empty.',
  }),
};

export const NotificationSettingsPatch = Type.Partial(
  Type.Object({
    ...fields,
    webhook_secret: Type.String({
      maxLength: 256,
      description: 'Signs deliveries: X-Sallyport-Signature: sha256=<HMAC of the body>. Never shown. Empty: unsigned.',
    }),
  }),
  ignoring('NotificationSettingsPatch', ASSIGNED),
);
export type NotificationSettingsPatch = Static<typeof NotificationSettingsPatch>;

export const NotificationSettings = Type.Object(
  { ...fields, webhook_secret_set: Type.Boolean({ description: 'Whether deliveries are signed.' }) },
  { title: 'NotificationSettings' },
);
export type NotificationSettings = Static<typeof NotificationSettings>;

export const NotificationSettingsQuery = Type.Object({
  defaults: Type.Optional(
    choice(['true', 'false'], {
      description: 'true: before the first save answer with what is in force then, instead of a 404. Default false.',
    }),
  ),
});

export const NOTIFICATION_DEFAULTS = {
  enabled: false,
  min_log_level: 'warn',
  notify_waf_blocks: true,
  notify_acl_denials: true,
  notify_rate_limit_hits: true,
  webhook_url: '',
  email_recipients: '',
  webhook_format: 'auto',
  webhook_template: '',
} as const;

export const EVENT_TYPES = [
  'waf_block',
  'acl_denial',
  'rate_limit_hit',
  'emergency_unproven',
  'backup_failed',
  'change_reverted',
  'certificate_expiring',
  'certificate_failed',
  'certificate_renewed',
  'certificate_revoked',
  'test',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The body of a generic delivery (spec, Outbound notification webhook). */
export const NotificationEvent = Type.Object(
  {
    event_type: Type.Unsafe<EventType>({ type: 'string', enum: EVENT_TYPES }),
    severity: LogLevel,
    timestamp: Timestamp,
    message: Type.String(),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'ip, rule_id, request_uri, user_agent, host, reference, certificate, names, expires_at, last_proven_at, last_made_at and retry_at ' +
        'where they apply.',
    }),
  },
  { title: 'WebhookEvent' },
);
export type NotificationEvent = Static<typeof NotificationEvent>;

export const NotificationTest = Type.Object(
  {
    webhook: Type.Object({
      attempted: Type.Boolean(),
      delivered: Type.Boolean(),
      error: Type.String({ description: 'Empty on success.' }),
    }),
    email: Type.Object({
      attempted: Type.Boolean(),
      delivered: Type.Boolean(),
      error: Type.String({ description: 'Empty on success.' }),
    }),
  },
  { title: 'NotificationTest' },
);
export type NotificationTest = Static<typeof NotificationTest>;

export const NotificationDelivery = Type.Object(
  {
    id: Type.Integer({ minimum: 1, description: 'Counts up since the server of this node was started.' }),
    at: Timestamp,
    channel: choice(['webhook', 'email'], {
      description: 'Where to; never the address itself, which may be a secret.',
    }),
    event_type: NotificationEvent.properties.event_type,
    severity: LogLevel,
    message: Type.String({ description: 'Of the event, at most 500 characters.' }),
    reference: Type.String({ description: 'Of the refused request that it told of. Empty: of none.' }),
    state: choice(['delivered', 'retrying', 'failed'], {
      description: 'retrying: it is on its way, or failed and is tried again.',
    }),
    attempts: Type.Integer({ minimum: 0, description: 'How often it was tried, as far as is known.' }),
    error: Type.String({ description: 'Why the last attempt failed. Empty: it did not.' }),
  },
  { title: 'NotificationDelivery' },
);
export type NotificationDelivery = Static<typeof NotificationDelivery>;

export const NotificationDeliveries = Type.Object(
  {
    since: Timestamp,
    queued: Type.Integer({ minimum: 0, description: 'Events that wait for their turn.' }),
    dropped: Type.Integer({ minimum: 0, description: 'Events that found no room to wait.' }),
    deliveries: Type.Array(NotificationDelivery, {
      description: 'Of the newest 50, newest first unless it is sorted.',
    }),
  },
  {
    title: 'NotificationDeliveries',
    description: 'What the node that answers sent, tests included, since its server was started (`since`).',
  },
);
export type NotificationDeliveries = Static<typeof NotificationDeliveries>;
