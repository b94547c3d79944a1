import type { EventType, NotificationEvent } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';

const TITLES: Readonly<Record<EventType, string>> = {
  waf_block: 'Request blocked by the firewall',
  acl_denial: 'Request denied by an access list',
  rate_limit_hit: 'Rate limit exceeded',
  emergency_unproven: 'Emergency path not proven',
  backup_failed: 'Backup failed',
  change_reverted: 'Change taken back, for nobody confirmed it',
  certificate_expiring: 'Certificate expires soon',
  certificate_failed: 'Certificate could not be had',
  certificate_renewed: 'Certificate renewed',
  certificate_revoked: 'Certificate revoked',
  test: 'Test notification',
};

/** A headline for an event. */
export const titleOf = ({ event_type }: NotificationEvent): string => TITLES[event_type];

/** The spec's words for severities in templates (Events, Trigger rules 8). */
const SEVERITIES = { debug: 'info', info: 'info', warn: 'warning', error: 'error' } as const;

const VARIABLES = {
  Title: titleOf,
  Message: ({ message }: NotificationEvent) => message,
  EventType: ({ event_type }: NotificationEvent) => event_type,
  Severity: ({ severity }: NotificationEvent) => SEVERITIES[severity],
  HostName: ({ details }: NotificationEvent) => String(details.host ?? ''),
  Timestamp: ({ timestamp }: NotificationEvent) => timestamp,
} as const;

const isVariable = (name: string): name is keyof typeof VARIABLES => Object.hasOwn(VARIABLES, name);

/** `{{Title}}` and, as in Go's templates, `{{.Title}}`. */
const PLACE = /\{\{\s*\.?(\w+)\s*\}\}/g;

const fill = (value: unknown, event: NotificationEvent): unknown => {
  if (typeof value === 'string') {
    return value.replaceAll(PLACE, (place, name: string) => (isVariable(name) ? VARIABLES[name](event) : place));
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, event));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, event)]));
};

/** Fills a checked template in. Values go into parsed JSON, so nothing a client sent can change its structure. */
export const renderTemplate = (template: string, event: NotificationEvent): string =>
  JSON.stringify(fill(JSON.parse(template), event));

/** Throws a 400 unless the template is JSON with known variables only. */
export const checkTemplate = (template: string): void => {
  try {
    JSON.parse(template);
  } catch {
    throw refuse.invalid('webhook_template must be valid JSON, with variables inside string values');
  }
  for (const [, name = ''] of template.matchAll(PLACE)) {
    if (!isVariable(name)) {
      throw refuse.invalid(`webhook_template has an unknown variable; there are ${Object.keys(VARIABLES).join(', ')}`);
    }
  }
};
