import type { NamedTable } from '@sallyport/store/history/store';

/** A kind of objects that come and go. */
export interface Kind {
  /** Below the API root. */
  path: string;
  table: NamedTable;
}

/** Objects by uuid, with the name of their identifier in paths, and what reading them takes. */
export const KINDS: readonly (Kind & { parameter: 'uuid' | 'id'; what: string; policy: 'member' | 'sensitive' })[] = [
  { path: 'proxy-hosts', table: 'proxy_hosts', parameter: 'uuid', what: 'a proxy host', policy: 'member' },
  { path: 'remote-servers', table: 'remote_servers', parameter: 'uuid', what: 'a remote server', policy: 'member' },
  { path: 'certificates', table: 'certificates', parameter: 'id', what: 'a certificate', policy: 'member' },
  { path: 'dns-providers', table: 'dns_providers', parameter: 'id', what: 'a DNS provider', policy: 'sensitive' },
  { path: 'access-lists', table: 'access_lists', parameter: 'id', what: 'an access list', policy: 'member' },
  { path: 'security/decisions', table: 'decisions', parameter: 'id', what: 'a decision', policy: 'member' },
  { path: 'security/rulesets', table: 'rulesets', parameter: 'id', what: 'a ruleset', policy: 'member' },
];
