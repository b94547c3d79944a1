/** An address to listen on; an empty host means every address, IPv4 and IPv6. */
export interface Listen {
  host: string;
  port: number;
}

/**
 * Parses `host:port`, `[v6]:port` or `:port`.
 * Throws an `Error` whose message continues the name of the variable ("must be …").
 */
export const parseListen = (text: string): Listen => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  if (!match) throw new Error('must be host:port, [ipv6]:port or :port');
  const port = Number(match[3]);
  if (port < 1 || port > 65_535) throw new Error('must have a port from 1 to 65535');
  return { host: match[1] ?? match[2] ?? '', port };
};

/** How a client on this machine reaches a listener, as URLs write it: one on all addresses is reached through loopback. */
export const localAddress = ({ host, port }: Listen): string => {
  if (isOnEveryAddress({ host })) return formatAddress('127.0.0.1', port);
  return formatAddress(host, port);
};

/** Whether a listener can be reached on every address of the machine. */
export const isOnEveryAddress = ({ host }: Pick<Listen, 'host'>): boolean => ['', '0.0.0.0', '::'].includes(host);

/** Renders a `Listen` or any host and port the way URLs write them: IPv6 in brackets. */
export const formatAddress = (host: string, port: number): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
