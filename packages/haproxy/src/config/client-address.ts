import type { ConfigSettings } from './settings.ts';

const maxHops = 5;

const hopRule = (hop: number, cidrs: string): string => {
  const conditions = ['from_trusted_proxy'];
  // Hop n counts only when every nearer one was a trusted proxy too: what stands further left, a client may have written.
  for (let nearer = 1; nearer < hop; nearer++)
    conditions.push(`{ req.hdr(x-forwarded-for,-${nearer}) -m ip ${cidrs} }`);
  conditions.push(`{ req.hdr(x-forwarded-for,-${hop}) -m ip 0.0.0.0/0 ::/0 }`);
  return `  http-request set-src req.hdr(x-forwarded-for,-${hop}) if ${conditions.join(' ')}\n`;
};

const proxyProtocol = (cidrs: string): string => `\
  # Connections from trusted proxies start with a PROXY protocol header; nobody else may send one.
  tcp-request connection expect-proxy layer4 if { src ${cidrs} }
`;

/** Whose address counts as the client's: the peer's, unless the peer is one of the trusted proxies. */
export const clientAddress = (settings: ConfigSettings): string => {
  if (settings.trustedProxies.length === 0) return '';
  const cidrs = settings.trustedProxies.join(' ');
  const hops = Array.from({ length: maxHops }, (_, index) => hopRule(index + 1, cidrs)).join('');
  return `\
${settings.proxyProtocol ? proxyProtocol(cidrs) : ''}\
  # Whose address counts: X-Forwarded-For is read from the right, through trusted proxies only. The peer is whom a PROXY
  # header names, if there is one: behind a proxy that passes bytes on, every header is the client's own.
  http-request set-var(txn.peer) src
  acl from_trusted_proxy var(txn.peer) -m ip ${cidrs}
${hops}\
  http-request set-var(txn.forwarded_proto) str(https) if from_trusted_proxy { req.hdr(x-forwarded-proto) -m str https }

`;
};
