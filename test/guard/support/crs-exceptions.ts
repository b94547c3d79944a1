const entries = (ids: readonly string[], problem: string): [string, string][] => ids.map((id) => [id, problem]);

/** Tests of CRS 3.3.4 that end otherwise behind HAProxy, and how; none of them lets something through to an origin. */
export const knownExceptions: Readonly<Record<string, string>> = Object.fromEntries([
  // CONNECT whose target is another host than its Host header (RFC 9110, 7.2).
  ...entries(['920100-6'], 'refused before it was judged'),
  // A request target without a slash, or with characters that no URI has.
  ...entries(['933160-21', '942500-1'], 'refused before it was judged'),
  // HTTP/1.0 never defined a body for GET: HAProxy takes it for smuggling.
  ...entries(['920170-7', '920420-15', '920420-16', '920420-17'], 'refused before it was judged'),
  // No Host at all: there is no site that it could be for.
  ...entries(['920280-1'], 'refused before it was judged'),
  // Connection is between two hops: HAProxy reads it, and the origin gets HAProxy's own.
  ...entries(['920210-2', '920210-3', '920210-4', '920210-6', '920210-7'], 'no id "920210"'),
  // X_Filename and X.Filename: names that could be taken for another's are deleted (http-restrict-req-hdr-names).
  ...entries(['933110-3', '933110-13', '933110-14', '933110-20', '933110-21', '933110-22'], 'no id "933110"'),
]);
