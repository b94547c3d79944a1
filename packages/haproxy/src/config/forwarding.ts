import { routeFlags } from '../routes/flags.ts';
import { flagIsSet } from './flag-test.ts';
import { originServers, plainServers } from './origin-servers.ts';
import { specialOrigins } from './plain-requests.ts';
import type { ConfigSettings } from './settings.ts';

const trustedForwarding = `\
  http-request set-header X-Real-IP %ci
  http-request add-header X-Forwarded-For %[var(txn.peer)] if from_trusted_proxy
  http-request set-header X-Forwarded-For %[var(txn.peer)] if !from_trusted_proxy
  http-request set-header X-Forwarded-Proto %[var(sess.proto)]
  http-request set-header X-Forwarded-Proto https if { var(txn.forwarded_proto) -m found }
`;

const directForwarding = `\
  http-request set-header X-Real-IP %[var(sess.client)]
  http-request set-header X-Forwarded-For %[var(sess.client)]
  http-request set-header X-Forwarded-Proto %[var(sess.proto)]
`;

/**
 * The same headers for a request that has none of them and one Host, with their values: without a number, all headers are looked through
 * for the last Host. Not behind trusted proxies.
 */
export const addedHeaders: readonly (readonly [string, string])[] = [
  ['x-real-ip', '%[var(sess.client)]'],
  ['x-forwarded-for', '%[var(sess.client)]'],
  ['x-forwarded-proto', '%[var(sess.proto)]'],
  ['x-forwarded-host', '%[req.fhdr(host,1)]'],
  ['x-forwarded-port', '%fp'],
];

/**
 * Headers for the origin. set-header drops what the client sent under the same name, so a forged copy never gets
 * through; hosts without standard headers lose ours too, except on an upgrade.
 */
export const forwardedHeaders = ({ trustedProxies }: ConfigSettings): string => `\
  # What the origin is told about the client; copies that the client sent are dropped.
  http-request del-header Forwarded
  # A client that names X-Real-IP in its Connection header would have some origins drop it: hop-by-hop ends here.
  http-request del-header Connection
${trustedProxies.length > 0 ? trustedForwarding : directForwarding}\
  http-request set-header X-Forwarded-Host %[req.fhdr(host)]
  http-request set-header X-Forwarded-Port %fp
`;

/** A host without standard headers gets none of ours, except on an upgrade, and none that the client wrote. */
export const noForwardedHeaders = (): string => `\
  http-request del-header ^x-(real-ip|forwarded-(for|proto|host|port))$ -m reg if !${flagIsSet(routeFlags.standardHeaders)} !upgrade

`;

/** Points the request at the record's origin. */
export const destination = (): string => `\
  # Where the record points.
  http-request set-dst var(txn.route),field(2,|)
  http-request set-dst-port var(txn.route),field(3,|)
`;

/** What origins need that are more than an address. */
export const originOptions = (): string => `\
  acl special_origin var(txn.flags),and(${specialOrigins}) -m bool
  http-request set-var(txn.server_name) var(txn.route),field(4,|) if special_origin { var(txn.route),field(4,|) -m len 1:253 }
`;

/** The `use_backend` rules for a destination. */
export const originBackends = (): string => `\
  use_backend special_origins if special_origin
  default_backend origins

`;

/** Headers on the way back. */
export const responseHeaders = (): string => `\
  # HSTS, on TLS only (RFC 6797, 7.2), also on the proxy's own answers.
  http-after-response set-header Strict-Transport-Security "max-age=63072000%[var(txn.flags),and(${routeFlags.hstsSubdomains}),bool,iif('; includeSubDomains',)]" if over_tls ${flagIsSet(routeFlags.hsts)}
  # Pages of ours (they carry a reference) are written as HTML; for who asked for JSON they are JSON.
  http-after-response set-header Content-Type application/json if { var(txn.page) -m found } { status ge 400 } { res.hdr(x-sallyport-reference) -m found } { res.hdr(content-type) -m beg text/html }
`;

/** The generic servers: the destination is the request's, so a handful of them serve every host. */
export const originSections = (settings: ConfigSettings): string =>
  `\
# Plain HTTP/1.1 origins: nearly all of them.
backend origins
${plainServers()}
# TLS and HTTP/2 origins, and the management API. An upgrade always takes HTTP/1.1.
backend special_origins
${originServers(settings)}`;
