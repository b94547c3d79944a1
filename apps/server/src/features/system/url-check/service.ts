import type { UrlTest, ValidUrl } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import { normaliseBaseUrl } from '../../../net/base-url.ts';
import { type SafeFetch, SafeFetchError } from '../../../net/safe-fetch.ts';

/** Spec, Limits: test-url. */
const LOOKUP_TIMEOUT_MS = 3_000;
const REQUEST_TIMEOUT_MS = 5_000;
const MAX_REDIRECTS = 2;

const BLOCKED_DETAILS =
  'SSRF protection: destinations in private, loopback, link-local, multicast and reserved ranges and cloud metadata services are not contacted';

/** Checks a URL for use as public base URL. Throws an `Error` with the spec's message. */
export const validateUrl = (url: string): ValidUrl => {
  const normalized = normaliseBaseUrl(url);
  return {
    valid: true,
    normalized,
    ...(normalized.startsWith('http://')
      ? { warning: 'Using http:// is not recommended for production; use https:// instead' }
      : {}),
  };
};

/** Makes the test of a URL: a HEAD request to where it points, if that is public. */
export const createUrlTest =
  ({ fetch, now }: { fetch: SafeFetch; now: () => number }) =>
  /** Resolves also for an unreachable target. Throws a 400 for what is no URL, a 403 for a destination that is not public. */
  async (url: string): Promise<UrlTest> => {
    const startedAt = now();
    try {
      const { status } = await fetch(url, {
        method: 'HEAD',
        protocols: ['http:', 'https:'],
        maxRedirects: MAX_REDIRECTS,
        lookupTimeoutMs: LOOKUP_TIMEOUT_MS,
        timeoutMs: REQUEST_TIMEOUT_MS,
      });
      const latency = Math.max(1, Math.round(now() - startedAt));
      return { reachable: true, latency, message: `URL is reachable; it answered with status ${status}`, error: '' };
    } catch (error) {
      if (!(error instanceof SafeFetchError)) throw error;
      switch (error.reason) {
        case 'invalid_url':
          throw refuse.invalid(error.message);
        case 'blocked':
          throw refuse.forbidden(error.message, { details: BLOCKED_DETAILS });
        case 'unresolved':
        case 'unreachable':
        case 'timeout':
        case 'too_many_redirects':
        case 'too_large':
          return { reachable: false, latency: 0, message: 'URL is not reachable', error: error.message };
        default:
          return error.reason satisfies never;
      }
    }
  };
export type UrlTester = ReturnType<typeof createUrlTest>;
