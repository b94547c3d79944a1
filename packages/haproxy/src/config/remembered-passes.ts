import { routeFlags } from '../routes/flags.ts';
import { judgedFlags, switchKeys } from './enforced.ts';
import { dataPlaneFiles } from './layout.ts';
import { leaveIfOrdinary } from './plain-requests.ts';
import type { ConfigSettings } from './settings.ts';

/** How long a client that an access list let pass is not asked about again. */
const REMEMBERED_SECONDS = 30;

/** Clients of hosts; with more of them the oldest are asked about again. */
const REMEMBERED_CLIENTS = '20k';

/** Every bit that a request's flags may have. */
const ALL_FLAGS = 0x7fffffff;

/** Two numbers of 16 digits at most and an address of 39 characters: a key that was cut would be another's. */
const KEY_BYTES = 96;

/** Whose address it is, as text: known of a connection, unless trusted proxies tell it with each request. */
const client = ({ trustedProxies }: ConfigSettings): string => (trustedProxies.length > 0 ? 'txn' : 'sess');

/** Sample: whose pass it is, of the host, under the revision that stands in `revision`. */
const pass = (settings: ConfigSettings, revision: string): string =>
  `var(txn.route),field(5,|),concat(-,${client(settings)}.client,-),concat(,${revision})`;

/** Sample: the revision by which a pass may be remembered, or 0. */
const revision = `str(${switchKeys.remembered}),map_str_int(${dataPlaneFiles.switchesMap},0)`;

/**
 * ACLs which together tell, in this order, that the only list of the host let the client pass: for requests whose name is the one that is
 * routed by. They have a variable of their own, for one whose name is not may get another host after them. Not behind trusted proxies.
 */
export const passedAcls = (settings: ConfigSettings): string => `\
  acl may_have_passed ${revision},set-var(txn.early_revision) -m int gt 0
  acl has_passed ${pass(settings, 'txn.early_revision')},table_expire(passes,0) gt 0
`;

/**
 * Rules for requests that nothing but an access list is asked about, after `judged`. What it says depends on the client and the guards'
 * configuration alone, so that whom it let pass a moment ago, by the same configuration, passes: to the rules that follow the host is one
 * without a list. Refusals are not remembered: each is judged, and told. What is asked for is the time that is left, not whether there is an
 * entry: HAProxy keeps one as long as any of the requests runs that made it.
 */
export const passedBefore = (settings: ConfigSettings): string =>
  settings.guard === null
    ? ''
    : `\
  # Whom an access list let pass under the configuration that may be remembered by is not asked about again for ${REMEMBERED_SECONDS} s. Without a
  # word about which one that is, every request is.
  acl list_alone var(txn.judge) -m int ${routeFlags.accessList}
  http-request set-var(txn.remembered) ${revision} if list_alone
  acl remembers var(txn.remembered) -m int gt 0
${settings.trustedProxies.length > 0 ? '  http-request set-var-fmt(txn.client) %[src] if list_alone remembers\n' : ''}\
  http-request set-var(txn.pass) ${pass(settings, 'txn.remembered')} if list_alone remembers
  http-request set-var(txn.flags) var(txn.flags),and(${ALL_FLAGS & ~judgedFlags}) if list_alone { var(txn.pass),table_expire(passes,0) gt 0 }
  http-request set-var(txn.judge) int(0) if list_alone !may_be_judged
${leaveIfOrdinary(settings, { first: '{ var(txn.pass) -m found } !judged ' })}
`;

/** Rules that remember whom a guard has just let pass; `passed` is the condition, HAProxy's, that it has. */
export const rememberPass = (passed: string): string =>
  `  http-request track-sc2 var(txn.pass) table passes if { var(txn.pass) -m found } ${passed}\n`;

/** Where they are remembered. */
export const passTable = (): string => `
# Clients that access lists let pass: host, address, revision of the guards' configuration.
backend passes
  stick-table type string len ${KEY_BYTES} size ${REMEMBERED_CLIENTS} expire ${REMEMBERED_SECONDS}s
`;
