import { quote } from './quote.ts';

const label = '[a-z0-9_-]{1,63}';
const port = '6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[0-9]{1,4}';

/** A DNS name (with underscores, which are in use) or an address, and a port or none: whatever reads it finds the same name. */
export const hostPattern = `(?:${label}(?:[.]${label})*+|\\[[0-9a-f:.]{2,45}\\])(?::(?:${port}))?`;

const namePattern = `^(?=.{1,259}$)${hostPattern}$`;

/**
 * An option of the frontends: what they let through, no section behind them has to look at again, where our own headers are
 * among them.
 */
export const headerNames = (): string => `\
  # X_Real_IP and X-Real-IP are the same to CGI-like applications: names with other characters than A-Z a-z 0-9 - go.
  option http-restrict-req-hdr-names delete
`;

/**
 * One reading of what is asked for, whoever reads it: the routes, the guard, the origin. Host is one name or the request is
 * refused. HAProxy compares Host with the name in an absolute target and in :authority by itself.
 */
export const names = (): string => `\
  # Host: one name, in the form that is routed by. Capitals, the root's dot and an empty port are legal, but nobody
  # behind us gets to see them (RFC 9110, 4.2.3). Anything else could be another name to whoever reads it next.
  acl plain_name req.fhdr(host) -m reg ${quote(namePattern)}
  # What an odd one was routed by does not count.
  http-request set-var(txn.odd_name) bool(true),unset-var(txn.host),unset-var(txn.wildcard),unset-var(txn.route),unset-var(txn.flags) if !plain_name
  acl odd_name var(txn.odd_name) -m found
  http-request set-header Host '%[req.fhdr(host),lower,regsub("[.]?:?$|[.](?=:)","")]' if odd_name { req.fhdr(host) -m len 1:260 }
  http-request deny deny_status 400 if odd_name !plain_name

  # Control characters in a header: some applications end it there (RFC 9110, 5.5). Before our own make the block longer.
  http-request deny deny_status 400 if { req.hdrs -m reg ${quote('[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f]')} }

`;

/**
 * ACLs that together tell a request which `targets` neither changes nor refuses: over HTTP/2 HAProxy makes the URL, of scheme, name and
 * path, and gives the origin the path if the scheme is one of the web's.
 */
export const readableTargets = (): string => `\
  acl path_target url -m beg /
  # What the connection speaks: a line of HTTP/1 may end with any version.
  acl http1 fc_http_major eq 1
  acl readable_target url -m beg /
  acl readable_target fc_http_major eq 2
  acl web_target url -m beg / https:// http://
  acl asterisk url -m str *
  # A tunnel to wherever the client likes is a forward proxy's (WebSocket over HTTP/2 does not come as CONNECT). TRACE has an origin
  # send back what it got: to a script headers it may not read, and those that we add. Twice, because HAProxy knows a method by its
  # capitals only, and some applications by any.
  acl no_business method -i CONNECT TRACE connect trace
  acl without_headers req.ver -m beg 0.

`;

/** Finds URLs that are no `web_target`, among patterns that ignore case: one at a word, one where none begins. */
export const otherTargetPatterns = [String.raw`\b\A(?!(?-i:https?://))`, String.raw`\A(?!/)`];

/** The target is a path, to whoever reads it, or the request is refused. */
export const targets = (): string => `\
  http-request deny deny_status 405 if no_business
  # HAProxy passes HTTP/0.9 on as such, with headers: whoever takes it at its word reads neither Host nor who the client is.
  http-request deny deny_status 400 if without_headers
  # The target: a path. An absolute one becomes a path, since an origin may read another name out of it (user@host).
  http-request set-var(txn.odd_target) bool(true) if !path_target
  acl odd_target var(txn.odd_target) -m found
  http-request set-uri '%[url,regsub("^https?://[^/@]*/?",/,i)]' if odd_target http1 !METH_CONNECT { url -m reg -i ${quote('^https?://[^/@]*(?:/|$)')} }
  http-request deny deny_status 400 if odd_target !path_target http1 !METH_CONNECT !asterisk
  http-request deny deny_status 400 if odd_target !path_target asterisk !METH_OPTIONS
  http-request deny deny_status 400 if odd_target !web_target !asterisk

`;
