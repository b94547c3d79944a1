import { dataPlaneFiles } from './layout.ts';
import type { ConfigSettings } from './settings.ts';

const maxHops = 5;

// A file, because a line of haproxy.cfg holds 64 words at most, and large networks publish longer lists.
const trusted = `-f ${dataPlaneFiles.trustedProxies}`;

const hopRule = (hop: number): string => {
  const conditions = ['from_trusted_proxy'];
  // Hop n counts only when every nearer one was a trusted proxy too: what stands further left, a client may have written.
  for (let nearer = 1; nearer < hop; nearer++)
    conditions.push(`{ req.hdr(x-forwarded-for,-${nearer}) -m ip ${trusted} }`);
  conditions.push(`{ req.hdr(x-forwarded-for,-${hop}) -m ip 0.0.0.0/0 ::/0 }`);
  return `  http-request set-src req.hdr(x-forwarded-for,-${hop}) if ${conditions.join(' ')}\n`;
};

/** Must come before all other rules. */
export const proxyHeaders = ({ proxyProtocol }: ConfigSettings): string =>
  proxyProtocol
    ? `\
  # Connections from trusted proxies start with a PROXY protocol header; nobody else may send one.
  tcp-request connection expect-proxy layer4 if { src ${trusted} }
`
    : '';

/** Whose address counts as the client's: the peer's, unless the peer is one of the trusted proxies. */
export const clientAddress = (settings: ConfigSettings): string =>
  settings.trustedProxies.length === 0
    ? ''
    : `\
  # Whose address counts: X-Forwarded-For is read from the right, through trusted proxies only. The peer is whom a PROXY
  # header names, if there is one: behind a proxy that passes bytes on, every header is the client's own.
  http-request set-var(txn.peer) src
  acl from_trusted_proxy var(txn.peer) -m ip ${trusted}
${Array.from({ length: maxHops }, (_, index) => hopRule(index + 1)).join('')}\
  # Of several values the last one is the trusted proxy's own.
  http-request set-var(txn.forwarded_proto) str(https) if from_trusted_proxy { req.hdr(x-forwarded-proto,-1) -m str -i https }

`;
