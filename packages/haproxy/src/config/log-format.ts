/**
 * Rules that keep what the log line of a refused request tells of it: method and URI, and 256 bytes of the User-Agent. A
 * colon parts them, since no method has one (RFC 9110, section 5.6.2). Asking the log format for them instead would make HAProxy
 * copy them for every request, logged or not: half a microsecond each. `condition` is HAProxy's: ` if …`.
 */
export const rememberRequest = (condition = ''): string => `\
  http-request set-var-fmt(txn.request) "%[method]:%[url]"${condition}
  http-request set-var(txn.agent) req.fhdr(user-agent),bytes(0,256)${condition}
`;

/**
 * One JSON object per line. Values a client chose pass through json(), which escapes quotes and control characters.
 * Method, User-Agent and URI are there for refusals only, the decision for those by a ban. Milliseconds have no converter before
 * HAProxy 2.8: `concat` makes a text of the number, and what was added keeps its zeros.
 */
export const logFormat = `'${[
  '{"time":"%[date,utime(%Y-%m-%dT%H:%M:%S)].%[date(0,ms),mod(1000),add(1000),concat(Z),bytes(1,4)]"',
  '"client":"%ci"',
  '"reference":"%ID"',
  '"status":%ST',
  '"termination":"%tsc"',
  '"refused":"%[var(txn.refused)]"',
  '"host":"%[var(txn.host),json(utf8s)]"',
  '"host_id":"%[var(txn.route),field(5,|)]"',
  '"method":"%[var(txn.request),field(1,:),json(utf8s)]"',
  '"decision":"%[var(txn.decision)]"',
  '"user_agent":"%[var(txn.agent),json(utf8s)]"',
  '"uri":"%[var(txn.request),field(2,:,0),json(utf8s)]"',
  '"origin":"%si:%sp"',
  '"duration_ms":%Ta}',
].join(',')}'`;
