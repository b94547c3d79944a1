import type { ProxyHost } from '@sallyport/contract';

/** The name that a host goes by: its first one. */
export const firstNameOf = ({ domain }: Pick<ProxyHost, 'domain'>): string => domain.split(',')[0] ?? '';

/** Where a host is to be seen, of a name that is one; undefined for wildcards alone. */
export const siteOf = ({ domain, ssl_forced, auto_certificate, certificate_id }: ProxyHost): string | undefined => {
  const name = domain.split(',').find((one) => !one.startsWith('*.'));
  if (name === undefined) return undefined;
  return `${ssl_forced || auto_certificate || certificate_id !== null ? 'https' : 'http'}://${name}/`;
};

/** The origin of a host as an address. */
export const originOf = ({
  forward_scheme,
  forward_host,
  forward_port,
}: Pick<ProxyHost, 'forward_scheme' | 'forward_host' | 'forward_port'>): string =>
  `${forward_scheme}://${forward_host.includes(':') ? `[${forward_host}]` : forward_host}:${forward_port}`;

/** What an address that was pasted in place of a host says; undefined when it is none. */
export const readOrigin = (
  text: string,
): Pick<ProxyHost, 'forward_scheme' | 'forward_host' | 'forward_port'> | undefined => {
  const given = text.trim();
  if (!/^https?:\/\//i.test(given) || !URL.canParse(given)) return undefined;
  const { protocol, hostname, port } = new URL(given);
  const forward_scheme = protocol === 'https:' ? 'https' : 'http';
  const forward_port = port === '' ? (forward_scheme === 'https' ? 443 : 80) : Number(port);
  return { forward_scheme, forward_host: hostname.replace(/^\[|\]$/g, ''), forward_port };
};
