import type { DesiredHost, HostFlags, Origin } from '@sallyport/haproxy';

/** A plain-HTTP origin on loopback, port apart. */
export const plainOrigin = { scheme: 'http', address: '127.0.0.1', sni: '', verify: false, h2: false } as const;

/** As the API makes a host when only the required fields are given. */
export const defaultFlags: HostFlags = {
  enabled: true,
  ssl_forced: false,
  http2_support: true,
  hsts_enabled: false,
  hsts_subdomains: false,
  block_exploits: true,
  websocket_support: false,
  enable_standard_headers: true,
};

/** Above those that tests choose: workers share this file, and of two hosts with one id the second would take the first one's place. */
let lastId = 10_000;

type HostParts = { id?: number; names: string[]; origin: Partial<Origin> & { port: number }; certificate?: number };

/** A host with the defaults of the API, `flags` apart. */
export const givenHost = (
  { id, names, origin, certificate }: HostParts,
  flags: Partial<HostFlags> = {},
): DesiredHost => ({
  id: id ?? ++lastId,
  names,
  origin: { ...plainOrigin, ...origin },
  flags: { ...defaultFlags, ...flags },
  certificate: certificate ?? null,
});
