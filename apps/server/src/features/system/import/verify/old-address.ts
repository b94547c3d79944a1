import { isIP } from 'node:net';

/** Where the old proxy is asked, as it was given; a port that is missing is not asked. */
export interface OldAddress {
  host: string;
  http: number | undefined;
  https: number | undefined;
}

const PATTERN = /^(?:(https?):\/\/)?(\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+)(?::(\d{1,5}))?\/?$/i;

/** Ports that are for TLS by their number: 443, 8443, … */
const isTlsPort = (port: number): boolean => port % 1_000 === 443;

/**
 * Reads `host`, `host:port` or `http(s)://host[:port]`. Without port and scheme both schemes are asked at their own ports; with one only
 * the one that it is for: by a port like 443 or 8443 HTTPS, by others HTTP. Undefined for anything else.
 */
export const parseOldAddress = (text: string): OldAddress | undefined => {
  const [, scheme, bracketed = '', digits] = PATTERN.exec(text.trim()) ?? [];
  const host = bracketed.replace(/^\[|\]$/g, '');
  if (host === '' || (bracketed.startsWith('[') && isIP(host) !== 6)) return undefined;
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined;
  if (scheme === undefined && port === undefined) return { host, http: 80, https: 443 };
  const isTls = scheme === undefined ? isTlsPort(port ?? 443) : scheme.toLowerCase() === 'https';
  return { host, http: isTls ? undefined : (port ?? 80), https: isTls ? (port ?? 443) : undefined };
};
