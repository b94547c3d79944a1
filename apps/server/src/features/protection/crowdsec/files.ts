import type { CrowdsecAccount } from './account.ts';

/** Who it is to the console; below the instance's directory. */
export const CONSOLE_FILE = 'console/credentials.yaml';

/** The instance's configuration, by path. All but the state is read only to its account. */
export const configFiles = (
  { view: at, state: { view: state } }: CrowdsecAccount,
  port: number,
  isEnrolled: boolean,
): Record<string, string> => ({
  // daemonize does not fork; without it neither SIGTERM nor SIGHUP is handled. Without online_client nothing goes to the internet.
  'etc/config.yaml': `common: {daemonize: true, log_media: stdout, log_level: info, working_dir: ${at}}
config_paths:
  config_dir: ${at}/etc/
  data_dir: ${at}/lists/
  simulation_path: ${at}/etc/simulation.yaml
  hub_dir: ${at}/hub/
  index_path: ${at}/hub/.index.json
  notification_dir: ${at}/etc/notifications/
  plugin_dir: /usr/lib/crowdsec/plugins/
crowdsec_service: {acquisition_path: ${at}/etc/acquis.yaml, parser_routines: 1}
cscli: {output: json, color: "no"}
db_config:
  log_level: info
  type: sqlite
  db_path: ${state}/crowdsec.db
  use_wal: true
  flush: {max_items: 5000, max_age: 7d}
api:
  client: {insecure_skip_verify: false, credentials_path: ${state}/credentials.yaml}
  server: {log_level: warning, listen_uri: "127.0.0.1:${port}", profiles_path: ${at}/etc/profiles.yaml${isEnrolled ? `, online_client: {credentials_path: ${at}/${CONSOLE_FILE}}` : ''}}
prometheus: {enabled: false}
`,
  'etc/profiles.yaml': `name: ban_addresses
filters: ['Alert.Remediation == true && Alert.GetScope() == "Ip"']
decisions: [{type: ban, duration: 4h}]
on_success: break
---
name: ban_ranges
filters: ['Alert.Remediation == true && Alert.GetScope() == "Range"']
decisions: [{type: ban, duration: 4h}]
on_success: break
`,
  // What it tells once it is enrolled; its own decisions alone would not be worth it.
  'etc/console.yaml': 'share_manual_decisions: false\nshare_tainted: true\nshare_custom: true\n',
  'etc/simulation.yaml': 'simulation: false\n',
  'etc/acquis.yaml': `filenames: [${at}/log/access.log]
force_inotify: true
labels: {type: nginx}
`,
  // A bare {} makes 1.4.6 crash.
  'hub/.index.json': '{"parsers":{},"scenarios":{},"collections":{},"postoverflows":{}}\n',
});

/** Says whom CrowdSec never looks at; below the instance's directory. */
export const WHITELIST_FILE = 'etc/parsers/s02-enrich/sallyport-whitelist.yaml';

/** No client has it: an empty list is none, and would end the start. */
const NOBODY = '255.255.255.255';

/** The parser that spares these networks (canonical addresses and CIDR ranges). */
export const whitelistParser = (networks: readonly string[]): string => {
  const list = (chosen: readonly string[]): string => JSON.stringify(chosen);
  return `name: sallyport/admin-whitelist
description: admin_whitelist of Sallyport
whitelist:
  reason: admin_whitelist of Sallyport
  ip: ${list([NOBODY, ...networks.filter((network) => !network.includes('/'))])}
  cidr: ${list(networks.filter((network) => network.includes('/')))}
`;
};
