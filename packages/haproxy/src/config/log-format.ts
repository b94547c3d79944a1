/**
 * Action that keeps method and URI for the log line of a refused request. Asking the log format for them instead would
 * make HAProxy copy them for every request, logged or not: half a microsecond each.
 */
export const rememberRequest = 'set-var-fmt(txn.request) "%[method]|%[url]"';

/**
 * One JSON object per line. Values a client chose pass through json(), which escapes quotes and control characters.
 * Method and URI are there for refusals only.
 */
export const logFormat = `'${[
  '{"time":"%[date,utime(%Y-%m-%dT%H:%M:%SZ)]"',
  '"client":"%ci"',
  '"reference":"%ID"',
  '"status":%ST',
  '"termination":"%tsc"',
  '"refused":"%[var(txn.refused)]"',
  '"host":"%[var(txn.host),json(utf8s)]"',
  '"host_id":"%[var(txn.route),field(5,|)]"',
  '"method":"%[var(txn.request),field(1,|),json(utf8s)]"',
  '"uri":"%[var(txn.request),field(2,|,0),json(utf8s)]"',
  '"origin":"%si:%sp"',
  '"duration_ms":%Ta}',
].join(',')}'`;
