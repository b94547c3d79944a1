import type { ViewName } from './views.ts';

/** The page of the guide that each screen is told on, with its heading. */
export const GUIDES: Readonly<Record<ViewName, string>> = {
  overview: 'monitoring',
  hosts: 'proxy-hosts',
  servers: 'proxy-hosts',
  certificates: 'certificates',
  security: 'security',
  firewall: 'waf',
  blocks: 'firewall-recipes',
  decisions: 'security#bans',
  crowdsec: 'crowdsec',
  accessLists: 'security#access-lists',
  logs: 'security#live-logs',
  users: 'accounts#adding-people',
  tokens: 'accounts#api-tokens',
  audit: 'accounts#audit-trail',
  settings: 'operations#settings',
  backups: 'backups',
  history: 'history',
  import: 'import',
  emergency: 'recovery',
  about: 'api',
};
