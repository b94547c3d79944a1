import type { IncomingMessage } from 'node:http';
import { isLoopbackAddress } from '../net/loopback.ts';
import { isPersonsConnection } from '../net/peer-account.ts';

/** Sent by our own data plane with every proxied request: such a request came through the proxy, so it is not local. */
const PROXIED_MARKER = 'x-sallyport-proxied';

/** What proxies, tunnels and clouds add to what they pass on; every `X-Forwarded…` beside these. */
const FORWARDING_HEADERS = new Set([
  PROXIED_MARKER,
  'cdn-loop',
  'cf-connecting-ip',
  'client-ip',
  'fastly-client-ip',
  'forwarded',
  'true-client-ip',
  'via',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-host',
  'x-original-for',
  'x-original-forwarded-for',
  'x-original-host',
  'x-original-url',
  'x-real-ip',
]);

/** nginx passes on like this when it is told nothing but where to: no header says so, and `Host` is a loopback address. */
const looksPassedOn = ({ httpVersion, headers }: IncomingMessage): boolean =>
  httpVersion === '1.0' && headers.connection?.toLowerCase() === 'close';

/** Requests for proxies name the whole URL (RFC 9112, section 3.2.2), which then counts and not `Host`. */
const isForProxy = ({ url = '' }: IncomingMessage): boolean => !url.startsWith('/');

/** The host part of a `Host` header; undefined when it is not exactly one host with an optional port. */
const hostOf = (header: string | undefined): string | undefined =>
  /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(header ?? '')?.[1]?.toLowerCase();

const isLoopbackHost = (host: string | undefined): boolean => {
  if (host === undefined) return false;
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return isLoopbackAddress(host.replace(/^\[|\]$/g, ''));
};

/** Tells whether `Origin` and `Sec-Fetch-Site` name this very service, or are absent as with curl. */
export const isSameOrigin = ({ headers }: IncomingMessage): boolean => {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const { origin } = headers;
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === headers.host?.toLowerCase();
};

/**
 * Tells whether a request was made on this host by something that speaks to us directly (contract.md, mode `local`).
 * A page in the operator's browser, DNS rebinding, another proxy (by its headers, or by its account when it adds none and
 * passes on a `Host` that its client chose) and our own data plane all fail at least one test.
 */
export const isLocalCaller = (request: IncomingMessage): boolean => {
  if (!isLoopbackAddress(request.socket.remoteAddress)) return false;
  for (const name in request.headers) {
    if (FORWARDING_HEADERS.has(name) || name.startsWith('x-forwarded')) return false;
  }
  if (looksPassedOn(request) || isForProxy(request)) return false;
  if (!isLoopbackHost(hostOf(request.headers.host)) || !isSameOrigin(request)) return false;
  return isPersonsConnection(request.socket);
};
