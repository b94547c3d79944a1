import { routeFlags } from '../routes/flags.ts';
import { quote } from './quote.ts';

/** Servers for every kind of origin, and which one a record's flags choose; `authorities` is a PEM bundle. */
export const originServers = (authorities: string): string => `\
  acl tls var(txn.flags),and(${routeFlags.tlsOrigin}) -m bool
  acl verify var(txn.flags),and(${routeFlags.verifyOrigin}) -m bool
  acl http2 var(txn.flags),and(${routeFlags.http2Origin}) -m bool
  acl upgrade req.hdr(upgrade) -m found
  use-server https-verify-h2 if verify http2 !upgrade
  use-server https-verify if verify
  use-server https-h2 if tls http2 !upgrade
  use-server https if tls
  use-server h2c if http2 !upgrade
  use-server http if !tls
  # A server keeps one TLS session; here it would be offered to every origin in turn, so none is kept.
  default-server no-ssl-reuse
  server http 0.0.0.0:0
  server h2c 0.0.0.0:0 proto h2
  server https 0.0.0.0:0 ssl verify none sni var(txn.server_name)
  server https-h2 0.0.0.0:0 ssl verify none sni var(txn.server_name) alpn h2,http/1.1
  # With verify required, the certificate must match the server name that was sent.
  server https-verify 0.0.0.0:0 ssl verify required ca-file ${quote(authorities)} sni var(txn.server_name)
  server https-verify-h2 0.0.0.0:0 ssl verify required ca-file ${quote(authorities)} sni var(txn.server_name) alpn h2,http/1.1
`;
