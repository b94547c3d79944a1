import { reference } from './reference.ts';

/** Longest URI that a line tells whole; of a longer one the beginning, with a mark. Escaped, it must fit in a line (global-section.ts). */
const URI_BYTES = 4_000;

/**
 * Rules that keep what the log line of a refused request tells of it: method and URI, and 256 bytes of the User-Agent. A
 * colon parts them, since no method has one (RFC 9110, section 5.6.2). Asking the log format for them instead would make HAProxy
 * copy them for every request, logged or not: half a microsecond each. `condition` is HAProxy's: ` if …`.
 */
export const rememberRequest = (condition = ''): string => `\
  http-request set-var-fmt(txn.request) "%[method,bytes(0,64)]:%[url,bytes(0,${URI_BYTES})]"${condition}
  http-request set-var(txn.request) var(txn.request),concat(…)${condition || ' if'} { url,length gt ${URI_BYTES} }
  http-request set-var(txn.agent) req.fhdr(user-agent),bytes(0,256)${condition}
`;

/**
 * One JSON object per line. Values a client chose pass through json(), which escapes quotes and control characters.
 * Method, User-Agent and URI are there for refusals only, the decision for those by a ban. Milliseconds have no converter before
 * HAProxy 2.8: `concat` makes a text of the number, and what was added keeps its zeros.
 * `failure` is what became of the
 * connection to the origin, if it could not be made, `tls` what the TLS library says of that; both are fixed texts, and a
 * converter behind them makes HAProxy crash (2.6.12, 3.0.11).
 */
export const logFormat = `'${[
  '{"time":"%[date,utime(%Y-%m-%dT%H:%M:%S)].%[date(0,ms),mod(1000),add(1000),concat(Z),bytes(1,4)]"',
  '"client":"%ci"',
  `"reference":"%[${reference}]"`,
  '"status":%ST',
  '"termination":"%tsc"',
  '"failure":"%[bc_err_str]"',
  '"tls":"%[ssl_bc_err_str]"',
  '"refused":"%[var(txn.refused)]"',
  '"answered":"%[var(txn.answered)]"',
  '"host":"%[var(txn.host),json(utf8s)]"',
  '"host_id":"%[var(txn.route),field(5,|)]"',
  '"method":"%[var(txn.request),field(1,:),json(utf8s)]"',
  '"decision":"%[var(txn.decision)]"',
  '"user_agent":"%[var(txn.agent),json(utf8s)]"',
  '"uri":"%[var(txn.request),field(2,:,0),json(utf8s)]"',
  '"origin":"%si:%sp"',
  '"duration_ms":%Ta}',
].join(',')}'`;
