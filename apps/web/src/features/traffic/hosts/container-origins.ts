import type { Container, ProxyHost } from '@sallyport/contract';
import { originOf } from './addresses.ts';

/** An origin that a container has to offer; a port that nobody told is empty. */
export type ContainerOrigin = Pick<ProxyHost, 'forward_scheme' | 'forward_host'> & { forward_port: number | '' };

/** Who publishes a port at all addresses of the machine publishes it at this one, too. */
const LOOPBACK_OF: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
/** Where TLS is customary. */
const TLS_PORTS = [443, 8443];

/**
 * Where a container may be asked: at published ports, which stay when it starts anew, then at its own address. One that exposes
 * nothing may listen all the same, at a port that has to be typed.
 */
export const originsOf = ({ ip, ports }: Container): ContainerOrigin[] => {
  const tcp = ports.filter(({ protocol }) => protocol === 'tcp');
  const origin = (inner: number, forward_host: string, forward_port: number): ContainerOrigin => ({
    forward_scheme: TLS_PORTS.includes(inner) ? 'https' : 'http',
    forward_host,
    forward_port,
  });
  // Docker names every address apart, of IPv4 first; one of them is enough to choose.
  const published = tcp.flatMap(({ port: inner, published: [first] }) =>
    first === undefined ? [] : [origin(inner, LOOPBACK_OF[first.ip] ?? first.ip, first.port)],
  );
  if (ip === null) return published;
  if (tcp.length === 0) return [{ forward_scheme: 'http', forward_host: ip, forward_port: '' }];
  return [...published, ...tcp.map(({ port }) => origin(port, ip, port))];
};

/** What a choice of an origin is called. */
export const labelOf = ({ name }: Container, { forward_port, ...origin }: ContainerOrigin): string =>
  `${name} · ${forward_port === '' ? origin.forward_host : originOf({ ...origin, forward_port })}`;
