import { AcmeProtocolError } from '../model/errors.ts';
import type { RenewalInfo } from '../model/objects.ts';
import { isObject, member, parseObject, readDate } from './json.ts';
import { readRetryAfter } from './retry-after.ts';
import { readText } from './text.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const DEFAULT_RETRY_MS = 6 * 3_600_000;

/** Reads what a CA says about renewing (RFC 9773, section 4.2); throws `AcmeProtocolError` for a window that is none. */
export const readRenewalInfo = (
  body: string,
  retryAfter: string | null | undefined,
  url: string,
  now: Date,
): RenewalInfo => {
  const document = parseObject(body, url);
  const window = member(document, 'suggestedWindow');
  const [windowStart, windowEnd] = isObject(window)
    ? [readDate(member(window, 'start')), readDate(member(window, 'end'))]
    : [];
  if (windowStart === undefined || windowEnd === undefined || windowEnd <= windowStart) {
    throw new AcmeProtocolError(url, 'the answer has no window in which to renew');
  }
  const explanation = readText(member(document, 'explanationURL'), 500);
  const waitMs = (readRetryAfter(retryAfter, now)?.getTime() ?? now.getTime() + DEFAULT_RETRY_MS) - now.getTime();
  return {
    windowStart,
    windowEnd,
    explanationUrl: /^https?:\/\//i.test(explanation) && URL.canParse(explanation) ? explanation : undefined,
    retryAfter: new Date(now.getTime() + Math.min(Math.max(waitMs, MINUTE_MS), DAY_MS)),
  };
};
