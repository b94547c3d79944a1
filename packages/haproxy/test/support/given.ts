import { randomUUID } from 'node:crypto';
import type { DesiredHost, HostFlags, Origin } from '../../src/index.ts';

let lastId = 0;

type HostParts = { id?: number; names: string[]; origin: Partial<Origin> & { port: number }; certificate?: number };

/** A host with the defaults of the API, `flags` apart. */
export const givenHost = (
  { id, names, origin, certificate }: HostParts,
  flags: Partial<HostFlags> = {},
): DesiredHost => ({
  id: id ?? ++lastId,
  uuid: randomUUID(),
  names,
  origin: { scheme: 'http', address: '127.0.0.1', sni: '', verify: false, h2: false, ...origin },
  flags: {
    enabled: true,
    ssl_forced: false,
    http2_support: true,
    hsts_enabled: false,
    hsts_subdomains: false,
    block_exploits: true,
    websocket_support: false,
    enable_standard_headers: true,
    ...flags,
  },
  certificate: certificate ?? null,
});
