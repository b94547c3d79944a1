import { isIP } from 'node:net';
import type { HostFlags, Origin } from '@sallyport/haproxy';
import type { HostRoute } from '../../../dataplane/routes/source.ts';
import { type RouteRow, type RouteSwitches, readSwitches, type StoredProxyHost } from './store.ts';

/** What hosts with the same switches have in common. */
type Kind = Pick<Origin, 'scheme' | 'verify' | 'h2'> & { mayReachReserved: boolean; flags: HostFlags };

const toKind = (switches: RouteSwitches): Kind => ({
  scheme: switches.tls_origin ? 'https' : 'http',
  verify: switches.forward_verify_tls,
  h2: switches.forward_http2,
  mayReachReserved: switches.forward_reserved,
  flags: {
    enabled: switches.enabled,
    ssl_forced: switches.ssl_forced,
    http2_support: switches.http2_support,
    hsts_enabled: switches.hsts_enabled,
    hsts_subdomains: switches.hsts_subdomains,
    block_exploits: switches.block_exploits,
    websocket_support: switches.websocket_support,
    enable_standard_headers: switches.enable_standard_headers,
    access_list: switches.has_access_list,
    firewall: switches.waf_enabled,
    inspect_responses: switches.waf_enabled && switches.waf_inspect_responses,
  },
});

/** By the number of the switches: a million hosts have but a few kinds, which are kept for as long as we run. */
const kinds = new Map<number, Kind>();
const kindOf = (switches: number): Kind => {
  const known = kinds.get(switches) ?? toKind(readSwitches(switches));
  kinds.set(switches, known);
  return known;
};

const toRoute = (row: Omit<RouteRow, 'switches'>, kind: Kind): HostRoute => {
  const { scheme, verify, h2, mayReachReserved, flags } = kind;
  return {
    id: row.id,
    originHost: row.forward_host,
    originPort: row.forward_port,
    mayReachReserved,
    at: (address) => ({
      id: row.id,
      names: row.domain.split(','),
      origin: {
        scheme,
        address,
        port: row.forward_port,
        // RFC 6066, section 3: literal addresses are not permitted as server names.
        sni: isIP(row.forward_host) === 0 ? row.forward_host : '',
        verify,
        h2,
      },
      flags,
      certificate: row.certificate_id,
    }),
  };
};

/** Translates what the data plane reads of a stored proxy host into what it serves. */
export const toHostRoute = (row: RouteRow): HostRoute => toRoute(row, kindOf(row.switches));

/** The route of a stored proxy host. */
export const routeOf = (host: StoredProxyHost): HostRoute =>
  toRoute(
    host,
    toKind({ ...host, tls_origin: host.forward_scheme === 'https', has_access_list: host.access_list_id !== null }),
  );
