import type { NotificationEvent, NotificationSettings } from '@sallyport/contract';
import { type SafeFetch, SafeFetchError } from '../../../net/safe-fetch.ts';
import { signatureOf } from '../../../net/webhook-signature.ts';
import { webhookBody } from './webhook-format.ts';

/** Limit of one attempt (contract.md). */
const ATTEMPT_MS = 10_000;
const USER_AGENT = 'Sallyport-Webhook/1.0';

/** `undefined`: delivered. Otherwise why not, and whether trying again can help. */
export type DeliveryFailure = { error: string; isFinal: boolean } | undefined;

/** What came of sending something. What throws has failed, and is not tried again: some of it may have been sent. */
export const outcomeOf = async (deliver: () => Promise<DeliveryFailure>): Promise<DeliveryFailure> => {
  try {
    return await deliver();
  } catch (error) {
    return { error: (error as Error).message, isFinal: true };
  }
};

/** Posts one event to the webhook, once. Never rejects. */
export const postWebhook = async (
  fetch: SafeFetch,
  settings: NotificationSettings & { webhook_url: string },
  secret: string | undefined,
  event: NotificationEvent,
  signal: AbortSignal,
): Promise<DeliveryFailure> => {
  try {
    const body = webhookBody(settings, event);
    const { status } = await fetch(settings.webhook_url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': USER_AGENT,
        ...(secret === undefined ? {} : { 'x-sallyport-signature': signatureOf(secret, body) }),
      },
      body,
      timeoutMs: ATTEMPT_MS,
      signal,
    });
    if (status >= 200 && status < 300) return undefined;
    // What the receiver does not want now it will not want in a second, unless it says that it is busy.
    return {
      error: `the webhook answered with status ${status}`,
      isFinal: status < 500 && status !== 408 && status !== 429,
    };
  } catch (error) {
    if (!(error instanceof SafeFetchError)) return { error: (error as Error).message, isFinal: false };
    return { error: error.message, isFinal: error.reason === 'blocked' || error.reason === 'invalid_url' };
  }
};
