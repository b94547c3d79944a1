import { isIP } from 'node:net';
import type { HostRoute } from '../../dataplane/route-source.ts';
import type { StoredProxyHost } from './store.ts';

/** Translates a stored proxy host into what the data plane serves. */
export const toHostRoute = (host: StoredProxyHost): HostRoute => ({
  id: host.id,
  originHost: host.forward_host,
  originPort: host.forward_port,
  mayReachReserved: host.forward_reserved,
  at: (address) => ({
    id: host.id,
    uuid: host.uuid,
    names: host.domain.split(','),
    origin: {
      scheme: host.forward_scheme,
      address,
      port: host.forward_port,
      // RFC 6066, section 3: literal addresses are not permitted as server names.
      sni: isIP(host.forward_host) === 0 ? host.forward_host : '',
      verify: host.forward_verify_tls,
      h2: host.forward_http2,
    },
    flags: {
      enabled: host.enabled,
      ssl_forced: host.ssl_forced,
      http2_support: host.http2_support,
      hsts_enabled: host.hsts_enabled,
      hsts_subdomains: host.hsts_subdomains,
      block_exploits: host.block_exploits,
      websocket_support: host.websocket_support,
      enable_standard_headers: host.enable_standard_headers,
      access_list: host.access_list_id !== null,
      firewall: host.waf_enabled,
      inspect_responses: host.waf_enabled && host.waf_inspect_responses,
    },
    certificate: host.certificate_id,
  }),
});
