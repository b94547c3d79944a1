import {
  ACCESS_LIST_DEFAULTS,
  CODE_SETTINGS,
  NOTIFICATION_DEFAULTS,
  PROXY_HOST_DEFAULTS,
  type ProxyHostFields,
  SECURITY_DEFAULTS,
  SETTINGS,
} from '@sallyport/contract';
import type { Stored } from '../features/as-code/stored.ts';

type Row<Section extends 'remote_servers' | 'access_lists' | 'rulesets'> = Stored[Section][number];

/** Identities by number: `u7` is a uuid to everybody but PostgreSQL. */
const identity = (id: number) => ({ id, uuid: `u${id}` });
export const server = (id: number, name: string, port = id): Row<'remote_servers'> => ({
  ...{ ...identity(id), name, provider: 'generic', host: '192.0.2.1', port, enabled: true },
});
export const list = (id: number, name: string, more: Partial<Row<'access_lists'>> = {}): Row<'access_lists'> => ({
  ...{ ...ACCESS_LIST_DEFAULTS, ...identity(id), name, type: 'deny', rules: [], countries: [], ...more },
});
export const ruleset = (id: number, name: string, content = 'rules'): Row<'rulesets'> => ({
  ...{ ...identity(id), name, source_url: '', mode: 'owasp', content, rule_count: 1 },
  ...{ created_at: '', updated_at: '' },
});
export const host = (
  id: number,
  domain: string,
  more: Partial<ProxyHostFields> = {},
): Stored['proxy_hosts'][number] => ({
  ...{ ...PROXY_HOST_DEFAULTS, ...identity(id), domain, forward_host: '192.0.2.1', forward_port: 80, ...more },
});
export const certificate = (id: number, name: string, domains: string) => ({ ...identity(id), name, domains });
/** A configuration that has nothing, but for what is given. */
export const storedWith = (more: Partial<Stored> = {}): Stored => ({
  ...{ remote_servers: [], access_lists: [], rulesets: [], proxy_hosts: [], certificates: [] },
  security: { ...SECURITY_DEFAULTS, waf_exclusions: [], updated_at: '' },
  notifications: { ...NOTIFICATION_DEFAULTS, webhook_secret_set: false } as Stored['notifications'],
  settings: new Map(CODE_SETTINGS.map((key) => [key, SETTINGS[key].default])),
  ...more,
});
