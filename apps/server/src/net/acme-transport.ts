import { isIP } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { AcmeProtocolError, type AcmeResponse, type AcmeTransport, limits } from '@sallyport/acme';
import { isMetadataName, isMetadataOrLinkLocal } from './blocked-addresses.ts';
import { SafeFetchError, toFailure } from './safe-fetch.ts';
import { systemLookup } from './system-lookup.ts';
import { withTimeout } from './with-timeout.ts';

export interface AcmeTransportOptions {
  /** PEM of the roots that the authority's own certificate is verified with; null: those of the system and of Node. */
  caCertificate: string | null;
  lookup?: (name: string) => Promise<string[]>;
}

/** Requests to one authority, over connections that are kept. */
export interface OpenTransport {
  transport: AcmeTransport;
  close(): Promise<void>;
}

const LOOKUP_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_ADDRESSES = 8;

const refused = (host: string): Error =>
  new SafeFetchError('blocked', `${host} is a link-local or metadata address, which is refused`);

/**
 * Addresses of a host that an administrator named: private ones are theirs to use, but nothing that hands out credentials to whoever
 * asks from inside.
 */
const addressesOf = async (host: string, lookup: (name: string) => Promise<string[]>): Promise<string[]> => {
  if (isIP(host) === 0 && isMetadataName(host)) throw refused(host);
  const addresses = isIP(host) === 0 ? await withTimeout(lookup(host), LOOKUP_TIMEOUT_MS).catch(() => []) : [host];
  if (addresses.some(isMetadataOrLinkLocal)) throw refused(host);
  if (addresses.length === 0) throw new SafeFetchError('unresolved', `${host} does not resolve`);
  return addresses.slice(0, MAX_ADDRESSES);
};

let trusted: SecureContext | undefined;

/** Hundreds of roots, read once and only by who orders certificates. */
const systemsRoots = (): SecureContext => {
  trusted ??= createSecureContext({
    ca: [...new Set([...getCACertificates('default'), ...getCACertificates('system')])],
  });
  return trusted;
};

const readBody = async (body: AsyncIterable<Buffer>, url: string): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > limits.answerBytes) {
      throw new AcmeProtocolError(url, `the answer is larger than ${limits.answerBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** Header fields by lower-case name; of one that came several times all values, as a list. */
const headersOf = (headers: Record<string, string | string[] | undefined>): AcmeResponse['headers'] => ({
  get(name) {
    const value = headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : value;
  },
});

/**
 * Opens what an ACME client speaks through. Connections go to the very addresses that were checked, TLS is verified, no redirect is
 * followed and no proxy of the environment used. Close it when the client is done.
 */
export const openAcmeTransport = async ({
  caCertificate,
  lookup = systemLookup,
}: AcmeTransportOptions): Promise<OpenTransport> => {
  // Only when it is needed, which for many is never: megabytes of memory.
  const { Agent, buildConnector, request: send } = await import('undici');
  const secureContext = caCertificate === null ? systemsRoots() : createSecureContext({ ca: caCertificate });
  const connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false, secureContext });
  const agent = new Agent({
    connect(target, callback) {
      const host = target.hostname.replace(/^\[|\]$/g, '');
      // RFC 6066, section 3: a literal address is no server name; the certificate is checked against the URL's host either way.
      const servername = isIP(host) === 0 ? { servername: host } : {};
      const connectTo = ([address, ...others]: string[]): void => {
        connector({ ...target, hostname: address ?? host, ...servername }, (...result) => {
          if (result[0] !== null && others.length > 0) connectTo(others);
          else callback(...result);
        });
      };
      addressesOf(host, lookup).then(connectTo, (error: Error) => callback(error, null));
    },
    maxHeaderSize: 32_768,
    connections: 4,
  });
  return {
    async transport({ method, url, headers, body, signal }) {
      try {
        const response = await send(url, { dispatcher: agent, method, headers, body: body ?? null, signal });
        return {
          status: response.statusCode,
          headers: headersOf(response.headers),
          body: await readBody(response.body as AsyncIterable<Buffer>, url),
        };
      } catch (error) {
        if (error instanceof AcmeProtocolError || signal.aborted) throw error;
        throw toFailure(error, limits.requestTimeoutMs);
      }
    },
    close: () => agent.destroy(),
  };
};
