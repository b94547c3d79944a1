import { isIP } from 'node:net';
import { answerDeadline } from '@sallyport/deployment/patience';
import { isBlockedAddress, isBlockedName } from './blocked-addresses.ts';
import { withTimeout } from './with-timeout.ts';

/** Why a request was not made, or came to nothing. */
export type FetchFailure =
  | 'invalid_url'
  | 'blocked'
  | 'unresolved'
  | 'unreachable'
  | 'timeout'
  | 'too_many_redirects'
  | 'too_large';

/** `message` is fit for the caller's eyes; `reason` says what to do about it. */
export class SafeFetchError extends Error {
  readonly reason: FetchFailure;
  constructor(reason: FetchFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'SafeFetchError';
    this.reason = reason;
  }
}

/** Which destinations are refused. Another one than the default is for tests against servers of their own. */
export interface AddressPolicy {
  isBlockedAddress: (address: string, port: number) => boolean;
  isBlockedName: (name: string) => boolean;
}

export interface SafeFetchDeps {
  /** All addresses of a name; rejects when there is none. */
  lookup: (name: string) => Promise<string[]>;
  addressPolicy?: AddressPolicy;
}

export interface SafeFetchOptions {
  method: 'GET' | 'HEAD' | 'POST';
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Default: https only. */
  protocols?: readonly ('http:' | 'https:')[];
  /** Default 0. A redirect is checked like the first URL; a POST never follows one. */
  maxRedirects?: number;
  /** For each look-up. Default 3 seconds. */
  lookupTimeoutMs?: number;
  /** For each request, from connecting to the end of the body. Default 5 seconds. */
  timeoutMs?: number;
  /** Bytes of the body that are read at most. Default 64 KiB. */
  maxBytes?: number;
  signal?: AbortSignal;
}

export interface SafeResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  /** Where the answer came from, after redirects. */
  url: string;
}

export type SafeFetch = (url: string, options: SafeFetchOptions) => Promise<SafeResponse>;

const DEFAULTS = {
  protocols: ['https:'] as readonly string[],
  maxRedirects: 0,
  lookupTimeoutMs: 3_000,
  timeoutMs: 5_000,
  maxBytes: 65_536,
};
const MAX_ADDRESSES = 8;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

const blockedDestination = () =>
  new SafeFetchError('blocked', 'URL resolves to a private IP address (blocked for security)');

const parseUrl = (text: string, protocols: readonly string[]): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // Credentials in a URL end up in logs, and hide where it points.
  if (!url || !protocols.includes(url.protocol) || url.hostname === '' || url.username !== '' || url.password !== '') {
    throw new SafeFetchError('invalid_url', 'invalid URL format');
  }
  return url;
};

/** Where a redirect leads; one that leads nowhere is the server's fault, not the caller's. */
const redirectTarget = (location: string, from: URL, protocols: readonly string[]): URL => {
  try {
    return parseUrl(new URL(location, from).href, protocols);
  } catch (error) {
    throw new SafeFetchError('unreachable', 'the server redirects to a URL that is not allowed', error);
  }
};

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'no answer',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'the server closed the connection',
  UND_ERR_CONNECT_TIMEOUT: 'no answer',
  UND_ERR_HEADERS_OVERFLOW: 'the answer has too many headers',
};

/** Any failure of a request, in words. */
export const toFailure = (error: unknown, timeoutMs: number): SafeFetchError => {
  if (error instanceof SafeFetchError) return error;
  const { name, code = '', message } = error as Error & { code?: string };
  if (name === 'TimeoutError') {
    return new SafeFetchError('timeout', `no answer within ${timeoutMs / 1000} seconds`, error);
  }
  const reason =
    REASONS[code] ??
    (/CERT|SSL|TLS|ISSUER|SELF_SIGNED|ALTNAME/.test(code)
      ? `TLS failed (${code})`
      : `request failed (${code || message})`);
  return new SafeFetchError('unreachable', reason, error);
};

/** RFC 6066, section 3: a literal address is no server name. */
const serverName = ({ hostname }: URL) =>
  isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { servername: hostname } : {};

/**
 * Makes a function that fetches URLs which come from a caller, without letting them reach what is not public (SSRF).
 * Literals and every resolved address are checked, and the connection goes to the very addresses that were checked:
 * a name that resolves differently a moment later changes nothing. Rejects with `SafeFetchError` only.
 */
export const createSafeFetch = ({
  lookup,
  addressPolicy = { isBlockedAddress, isBlockedName },
}: SafeFetchDeps): SafeFetch => {
  /** Addresses of the URL's host that may be connected to; refuses when any one is not allowed. */
  const resolveHost = async ({ hostname, port, protocol }: URL, timeoutMs: number): Promise<string[]> => {
    const literal = hostname.replace(/^\[|\]$/g, '');
    const portNumber = Number(port || (protocol === 'https:' ? 443 : 80));
    // The URL parser has already turned 0x7f.1, 2130706433 and the like into the dotted form.
    if (isIP(literal) !== 0) {
      if (addressPolicy.isBlockedAddress(literal, portNumber)) throw blockedDestination();
      return [literal];
    }
    if (addressPolicy.isBlockedName(hostname)) throw blockedDestination();
    let addresses: string[];
    try {
      addresses = await withTimeout(lookup(hostname), timeoutMs);
    } catch (error) {
      const isTimeout = (error as Error).name === 'TimeoutError';
      throw isTimeout
        ? new SafeFetchError('timeout', `the host name did not resolve within ${timeoutMs / 1000} seconds`, error)
        : new SafeFetchError('unresolved', 'the host name does not resolve', error);
    }
    if (addresses.length === 0) throw new SafeFetchError('unresolved', 'the host name does not resolve');
    if (addresses.some((address) => addressPolicy.isBlockedAddress(address, portNumber))) throw blockedDestination();
    return addresses.slice(0, MAX_ADDRESSES);
  };

  /** One request to one address that was checked. */
  const requestAt = async (url: URL, address: string, options: SafeFetchOptions, signal: AbortSignal) => {
    // Only when it is needed, which for many is never: megabytes of memory.
    const { Agent, buildConnector, request } = await import('undici');
    const connector = buildConnector({ timeout: options.timeoutMs ?? DEFAULTS.timeoutMs, allowH2: false });
    const agent = new Agent({
      connect: (target, callback) =>
        // The certificate is checked against the name of the URL, not against the address.
        connector({ ...target, hostname: address, ...serverName(url) }, callback),
      maxHeaderSize: 32_768,
    });
    try {
      const { method, headers = {}, body } = options;
      const response = await request(url.href, { dispatcher: agent, method, headers, body: body ?? null, signal });
      const maxBytes = options.maxBytes ?? DEFAULTS.maxBytes;
      const chunks: Buffer[] = [];
      let length = 0;
      for await (const chunk of response.body as AsyncIterable<Buffer>) {
        length += chunk.length;
        if (length > maxBytes) throw new SafeFetchError('too_large', `the answer is larger than ${maxBytes} bytes`);
        chunks.push(chunk);
      }
      return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) };
    } finally {
      await agent.destroy();
    }
  };

  /** Tries the addresses one after the other until one connects. */
  const requestHost = async (url: URL, options: SafeFetchOptions) => {
    const timeoutMs = options.timeoutMs ?? DEFAULTS.timeoutMs;
    const addresses = await resolveHost(url, options.lookupTimeoutMs ?? DEFAULTS.lookupTimeoutMs);
    const deadline = answerDeadline(timeoutMs);
    const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline;
    for (const [index, address] of addresses.entries()) {
      try {
        return await requestAt(url, address, options, signal);
      } catch (error) {
        const failure = toFailure(error, timeoutMs);
        const isConnectFailure = /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/.test(
          String((error as { code?: unknown }).code),
        );
        if (!isConnectFailure || index === addresses.length - 1) throw failure;
      }
    }
    throw new SafeFetchError('unreachable', 'no address to connect to');
  };

  return async (text, options) => {
    const protocols = options.protocols ?? DEFAULTS.protocols;
    const maxRedirects = options.method === 'POST' ? 0 : (options.maxRedirects ?? DEFAULTS.maxRedirects);
    let url = parseUrl(text, protocols);
    for (let redirects = 0; ; redirects += 1) {
      const response = await requestHost(url, options);
      const location = response.headers.location;
      if (!REDIRECTS.has(response.status) || typeof location !== 'string' || maxRedirects === 0) {
        return { ...response, url: url.href };
      }
      if (redirects === maxRedirects) {
        throw new SafeFetchError('too_many_redirects', `more than ${maxRedirects} redirects`);
      }
      url = redirectTarget(location, url, protocols);
    }
  };
};
