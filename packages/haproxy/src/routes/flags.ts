/**
 * The bits of a route record's first field. The static haproxy.cfg tests them with `and(N)`, so a bit keeps its
 * meaning for as long as files written by an earlier version may be read.
 */
export const routeFlags = {
  tlsOrigin: 1,
  verifyOrigin: 2,
  http2Origin: 4,
  sslForced: 8,
  hsts: 16,
  hstsSubdomains: 32,
  blockExploits: 64,
  websocket: 128,
  standardHeaders: 256,
  accessList: 512,
  firewall: 1024,
  inspectResponses: 2048,
  ownApi: 4096,
} as const;
