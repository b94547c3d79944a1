import type { Block, EventType, LogEntry, LogLevel, LogSource, NotificationEvent } from '@sallyport/contract';

/** A request that was refused, or would have been in monitor mode; the host is still named by its internal id. */
export type SecurityEvent = Omit<Block, 'host_uuid' | 'exclusions'> & { host_id: number | null };

type Layer = SecurityEvent['layer'];

const SOURCES: Readonly<Record<Layer, LogSource>> = {
  decision: 'crowdsec',
  rate_limit: 'guard',
  exploit: 'guard',
  websocket: 'guard',
  acl: 'acl',
  waf: 'waf',
  guard: 'guard',
};

const EVENT_TYPES: Readonly<Partial<Record<Layer, EventType>>> = {
  waf: 'waf_block',
  acl: 'acl_denial',
  rate_limit: 'rate_limit_hit',
};

const WHAT: Readonly<Record<Layer, string>> = {
  decision: 'Request of a banned address refused',
  rate_limit: 'Request over the rate limit refused',
  exploit: 'Exploit probe refused',
  websocket: 'WebSocket upgrade refused',
  acl: 'Blocked by access control list',
  waf: 'Request blocked by the web application firewall',
  guard: 'Request refused because it could not be judged',
};

const levelOf = ({ layer, monitored }: SecurityEvent): LogLevel => {
  if (layer === 'guard') return 'error';
  if (monitored || layer === 'decision') return 'info';
  return 'warn';
};

const messageOf = ({ layer, monitored, reason }: SecurityEvent): string => {
  const what = monitored ? 'Request would have been blocked by the web application firewall' : WHAT[layer];
  return reason === '' ? what : `${what}: ${reason}`;
};

/** SecLang's names of severities, by number. */
const SEVERITIES = ['EMERGENCY', 'ALERT', 'CRITICAL', 'ERROR', 'WARNING', 'NOTICE', 'INFO', 'DEBUG'] as const;

/** Severity of the rule that explains the event, as rules write it. */
const severityOf = ({ matches, rule_id }: SecurityEvent): string | undefined =>
  SEVERITIES[matches.find((match) => match.rule_id === rule_id)?.severity ?? Number.NaN];

/** The entry of the live stream. */
export const toLogEntry = (event: SecurityEvent): LogEntry => ({
  level: levelOf(event),
  message: messageOf(event),
  timestamp: event.timestamp,
  source: SOURCES[event.layer],
  fields: {
    event: event.monitored ? 'waf_monitored' : (EVENT_TYPES[event.layer] ?? `${event.layer}_refusal`),
    reference: event.reference,
    ip: event.ip,
    host: event.host,
    method: event.method,
    request_uri: event.request_uri,
    user_agent: event.user_agent,
    status: event.status,
    ...(event.rule_id === null ? {} : { rule_id: event.rule_id, severity: severityOf(event) }),
  },
});

/** What is sent to the webhook; undefined for events that no notification class covers. */
export const toNotification = (event: SecurityEvent): NotificationEvent | undefined => {
  const event_type = EVENT_TYPES[event.layer];
  // Nothing was blocked in monitor mode; the live stream and the metrics tell about it.
  if (event_type === undefined || event.monitored) return undefined;
  return {
    event_type,
    severity: levelOf(event),
    timestamp: event.timestamp,
    message: messageOf(event),
    details: {
      ip: event.ip,
      ...(event.rule_id === null ? {} : { rule_id: event.rule_id }),
      request_uri: event.request_uri,
      user_agent: event.user_agent,
      host: event.host,
      reference: event.reference,
    },
  };
};
