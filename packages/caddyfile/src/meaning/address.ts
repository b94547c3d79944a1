import { isIPv6 } from 'node:net';
import { CaddyfileError, show } from '../text/error.ts';
import type { Token } from '../text/token.ts';

/** What a site answers to. Host and path are empty, the port undefined, when the address does not say. */
export interface Address {
  token: Token;
  scheme: 'http' | 'https' | undefined;
  /** Lower case; may be a wildcard, an IP address or hold a placeholder. */
  host: string;
  port: number | undefined;
  path: string;
}

/** Splits `host:port` as Go does; undefined for the port when there is none. */
export const splitHostPort = (text: string): { host: string; port: string | undefined } => {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/s.exec(text);
  if (bracketed) return { host: bracketed[1]!, port: bracketed[2] };
  const colon = text.lastIndexOf(':');
  // More than one colon is an IPv6 address without a port.
  if (colon === -1 || text.indexOf(':') !== colon) return { host: text, port: undefined };
  return { host: text.slice(0, colon), port: text.slice(colon + 1) };
};

/** Lower case but for what stands in braces: placeholders are case-sensitive. */
const lower = (text: string): string => {
  const parts: string[] = [];
  let from = 0;
  for (let open = text.indexOf('{'); open !== -1; open = text.indexOf('{', from)) {
    const close = text.indexOf('}', open);
    if (close === -1) break;
    parts.push(text.slice(from, open).toLowerCase(), text.slice(open, close + 1));
    from = close + 1;
  }
  return parts.join('') + text.slice(from).toLowerCase();
};

/** Reads a site's address, `scheme://host:port/path`, of which any part may be missing. */
export const parseAddress = (token: Token): Address => {
  const refuse = (why: string) => new CaddyfileError(`the address ${show(token.text)} ${why}`, token, token.text);
  if (token.text.includes('{$')) throw refuse('needs an environment variable that is not known here');
  const separator = token.text.indexOf('://');
  const scheme = separator === -1 ? undefined : lower(token.text.slice(0, separator));
  const rest = (separator === -1 ? token.text : token.text.slice(separator + 3)).trim();
  if (scheme === 'ws' || scheme === 'wss') throw refuse(`has the scheme ${scheme}: use http or https`);
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https')
    throw refuse('has a scheme other than http and https');
  const slash = rest.indexOf('/');
  const { host, port } = splitHostPort(slash === -1 ? rest : rest.slice(0, slash));
  if (port !== undefined && port !== '' && !/^\d{1,5}$/.test(port)) throw refuse('has a port that is no number');
  const number = port ? Number(port) : undefined;
  if (number !== undefined && number > 65_535) throw refuse('has a port above 65535');
  return {
    token,
    scheme,
    host: isIPv6(host) ? new URL(`http://[${host}]`).hostname.slice(1, -1) : lower(host.trim()),
    port: number,
    path: slash === -1 ? '' : rest.slice(slash),
  };
};
