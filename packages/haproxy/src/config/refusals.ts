import { routeFlags } from '../routes/flags.ts';
import { clearedClient, limitKey } from './enforced.ts';
import { flagIsSet } from './flag-test.ts';
import { dataPlaneFiles } from './layout.ts';
import { rememberRequest } from './log-format.ts';
import type { ConfigSettings } from './settings.ts';

/** Which representation the proxy's own answers take. */
export const representation = (): string => `\
  # Pages are HTML unless the client asks for JSON and not for HTML.
  acl asks_for_json req.fhdr(accept) -m sub json
  acl asks_for_html req.fhdr(accept) -m sub text/html
  http-request set-var(txn.page) str(json) if asks_for_json !asks_for_html

`;

const decoded = 'regsub("%(?![0-9a-fA-F]{2})",!,g),url_dec';
const decodedOnce = `url,${decoded}`;

const cleared = `\
  # Banned addresses and prefixes. The list names everybody else as well: who is not found meets one that is not whole, and
  # can't be told from somebody who is banned.
  acl cleared src,map_ip(${dataPlaneFiles.bansMap}) -m str ${clearedClient}
  # The administrators' whitelist wins over every decision, and over the guards.
  acl whitelisted src,map_ip(${dataPlaneFiles.whitelistMap}) -m found
`;

/** What tells a request that the following rules refuse from one that none of them is about. */
export const suspicions = (): string => `\
${cleared}\
  # block_exploits: the list is in docs/guide/block-exploits.md. Three views of the URL are looked at: as it is, decoded
  # once, and decoded twice.
  acl blocks_exploits var(txn.flags),and(${routeFlags.blockExploits}) -m bool
  acl probe url -m reg -i -f ${dataPlaneFiles.exploitPatterns}
  # A malformed escape, which would keep HAProxy from decoding, is made none first: applications decode around it.
  acl encoded url -m sub %
  acl encoded_probe '${decodedOnce}' -m reg -i -f ${dataPlaneFiles.exploitPatterns}
  acl encoded_probe '${decodedOnce},${decoded}' -m reg -i -f ${dataPlaneFiles.exploitPatterns}

`;

/** Decisions about the client: the whitelist is asked only for an address that a decision names. */
export const decisions = (): string => `\
  # What refuses a request first is what the client and the log are told.
  acl refused var(txn.refused) -m found
  http-request set-var(txn.refused) str(unknown) if !cleared !whitelisted
  http-request set-var(txn.decision) src,map_ip(${dataPlaneFiles.bansMap}) if refused
  http-request set-var(txn.refused) str(decision) if refused { var(txn.decision) -m found }

`;

const denials = `\
  acl unknown var(txn.refused) -m str unknown
  http-request set-var(txn.message) str("This request could not be checked. Please try again.") if unknown
  http-request deny deny_status 503 if unknown
  http-request deny deny_status 403 if refused
`;

/** The same once more, for a request that took its time to arrive. */
export const decisionsSince = (): string => `\
${cleared}${decisions()}${rememberRequest(' if refused')}${denials}`;

/** Requests over the limit of one client prefix (/32, /64) are refused with 429. */
export const rateLimits = ({ rateLimit: limit }: ConfigSettings): string =>
  limit === null
    ? ''
    : `\
  # Requests per window and client prefix. The threshold is an entry of rate-limits.map: it changes without a reload.
  # 0: nobody is limited; none: that is not known, and the request refused.
  http-request set-var(txn.limit) str(${limitKey}),map_str_int(${dataPlaneFiles.limitsMap},-1)
  acl limited var(txn.limit) -m int gt 0
  acl bypasses_limit src,map_ip(${dataPlaneFiles.bypassMap}) -m found
  http-request track-sc0 src,ipmask(32,64) table requests if limited !bypasses_limit
  acl over_limit sc0_http_req_rate(requests),sub(txn.limit) gt 0
  http-request set-var(txn.refused) str(rate_limit) if limited over_limit !whitelisted !refused
  http-request set-var(txn.refused) str(unknown) if { var(txn.limit) -m int lt 0 } !whitelisted !refused
  http-request set-var(txn.retry_after) int(${limit.windowSec}) if { var(txn.refused) -m str rate_limit }

`;

/** Answers plain HTTP with a redirect for hosts that force TLS. */
export const forceTls = ({ publicHttpsPort, trustedProxies }: ConfigSettings): string => {
  if (publicHttpsPort === null) return '';
  const port = publicHttpsPort === 443 ? '' : `:${publicHttpsPort}`;
  const told = trustedProxies.length > 0 ? ' !{ var(txn.forwarded_proto) -m str https }' : '';
  return `\
  # ssl_forced: 308 keeps method and body; certificate authorities fetch their challenge over plain HTTP.
  http-request redirect prefix https://%[var(txn.host)]${port} code 308 if ${flagIsSet(routeFlags.sslForced)} !over_tls${told} !{ path_beg /.well-known/acme-challenge/ }

`;
};

/** Classic probes in path and query, for hosts with block_exploits. */
export const exploits = (): string => `\
  http-request set-var(txn.refused) str(exploit) if blocks_exploits probe !refused
  http-request set-var(txn.refused) str(exploit) if encoded blocks_exploits encoded_probe !refused

`;

/** Upgrades: WebSocket where the host allows it, anything else never. */
export const upgrades = ({ rateLimit }: ConfigSettings): string => `\
  # websocket_support. Any other protocol (h2c above all, which would carry requests past every rule) is not offered to the origin.
  acl websocket req.fhdr(upgrade) -m str -i websocket
  acl other_upgrade req.fhdr(upgrade) -m reg -i ^(?!websocket$)
  acl allows_websocket var(txn.flags),and(${routeFlags.websocket}) -m bool
  http-request set-var(txn.refused) str(websocket) if websocket !allows_websocket !refused
${rememberRequest(' if refused')}\
${rateLimit === null ? '' : '  http-request deny deny_status 429 if { var(txn.refused) -m str rate_limit }\n'}\
${denials}\
  http-request del-header Upgrade if other_upgrade
  http-request set-header Connection Upgrade if websocket

`;
