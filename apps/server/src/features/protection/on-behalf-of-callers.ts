import { refuse } from '@sallyport/store/errors';
import type { CheckDestination } from '../../net/check-destination.ts';
import { type SafeFetch, SafeFetchError } from '../../net/safe-fetch.ts';

const RULES_TIMEOUT_MS = 20_000;
const RULES_REDIRECTS = 3;

/** What a caller may have this server ask other hosts for; each function throws a 400 that says what is wrong with the URL. */
export const onBehalfOfCallers = (fetch: SafeFetch, checkDestination: CheckDestination) => ({
  async checkWebhookUrl(url: string): Promise<void> {
    try {
      await checkDestination(url);
    } catch (error) {
      throw error instanceof SafeFetchError ? refuse.invalid(`Invalid webhook URL: ${error.message}`) : error;
    }
  },

  /** The text of a rule set. */
  async fetchText(url: string, { maxBytes }: { maxBytes: number }): Promise<string> {
    try {
      const limits = { maxBytes, timeoutMs: RULES_TIMEOUT_MS, maxRedirects: RULES_REDIRECTS };
      const { status, body } = await fetch(url, { method: 'GET', ...limits });
      if (status !== 200) throw refuse.invalid(`source_url could not be fetched: it answered with status ${status}`);
      return body.toString('utf8');
    } catch (error) {
      if (!(error instanceof SafeFetchError)) throw error;
      throw refuse.invalid(`source_url could not be fetched: ${error.message}`);
    }
  },
});
