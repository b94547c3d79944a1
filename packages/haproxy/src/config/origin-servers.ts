import { routeFlags } from '../routes/flags.ts';
import { socketAddress } from './confinement.ts';
import { freshOnly, fromHaproxy30 } from './exactly-once.ts';
import { specialOrigins } from './plain-requests.ts';
import { quote } from './quote.ts';
import type { ConfigSettings } from './settings.ts';

/**
 * `when` is the condition (HAProxy's) under which a request takes this server; the first that holds counts. `first` is one that is asked
 * before those of all servers, because it holds for most requests.
 */
type OriginServer = { name: string; when: string; first?: string; address?: string; options: string };

/** The destination is the request's. */
const anywhere = '0.0.0.0:0';

const plain: readonly OriginServer[] = [{ name: 'http', when: 'TRUE', options: '' }];

const special = (settings: ConfigSettings): readonly OriginServer[] => {
  const { apiSocket, originAuthorities } = settings;
  const unverified = ' ssl verify none sni var(txn.server_name)';
  // With verify required, the certificate must match the server name that was sent.
  const verified = ` ssl verify required ca-file ${quote(originAuthorities)} sni var(txn.server_name)`;
  return [
    ...(apiSocket === null
      ? []
      : [{ name: 'api', when: 'own_api', address: socketAddress(settings, apiSocket), options: '' }]),
    { name: 'https-verify-h2', when: 'verify http2 !upgrade', options: `${verified} alpn h2,http/1.1` },
    { name: 'https-verify', when: 'verify', options: verified },
    { name: 'https-h2', when: 'tls http2 !upgrade', options: `${unverified} alpn h2,http/1.1` },
    { name: 'https', when: 'tls', options: unverified },
    { name: 'h2c', when: 'http2 !upgrade', options: ' proto h2' },
    { name: 'http', when: '!tls', first: 'plain_origin', options: '' },
  ];
};

/** Each server, and from HAProxy 3.0 on a second one for requests that must not be repeated. */
const twice = (servers: readonly OriginServer[]): string => {
  const ordered = [...servers.flatMap(({ name, first }) => (first ? [{ name, when: first }] : [])), ...servers];
  return `\
${fromHaproxy30}
  acl repeatable method GET HEAD OPTIONS
${ordered.map(({ name, when }) => `  use-server ${name}-once if ${when} !repeatable\n`).join('')}\
${servers.map(({ name, address = anywhere, options }) => `  server ${name}-once ${address}${options} ${freshOnly}\n`).join('')}\
.endif
${ordered.map(({ name, when }) => `  use-server ${name} if ${when}\n`).join('')}\
${servers.map(({ name, address = anywhere, options }) => `  server ${name} ${address}${options}\n`).join('')}`;
};

/** One server for plain HTTP/1.1 origins, for requests that may be repeated. */
export const plainOriginServer = (): string => `  server http ${anywhere}\n`;

/** The server for plain HTTP/1.1 origins: the destination is the request's. */
export const plainServers = (): string => twice(plain);

/** Servers for every kind of origin, and which one a record's flags choose. */
export const originServers = (settings: ConfigSettings): string => `\
  acl plain_origin var(txn.flags),and(${specialOrigins}) -m int 0
  acl own_api var(txn.flags),and(${routeFlags.ownApi}) -m bool
  acl tls var(txn.flags),and(${routeFlags.tlsOrigin}) -m bool
  acl verify var(txn.flags),and(${routeFlags.verifyOrigin}) -m bool
  acl http2 var(txn.flags),and(${routeFlags.http2Origin}) -m bool
  acl upgrade req.hdr(upgrade) -m found
  # A server keeps one TLS session; here it would be offered to every origin in turn, so none is kept.
  default-server no-ssl-reuse
${twice(special(settings))}`;
