/** Longer than this nothing is put off because of a header; a nonsense date must not stop renewals for good. */
const LONGEST_MS = 30 * 86_400_000;

/** What `Retry-After` says (RFC 9110, section 10.2.3: seconds or a date), at most 30 days from now; undefined when it is unreadable. */
export const readRetryAfter = (header: string | null | undefined, now: Date): Date | undefined => {
  const text = header?.trim() ?? '';
  const at = /^\d{1,10}$/.test(text)
    ? now.getTime() + Number(text) * 1_000
    : /^[A-Za-z]{3,9},? /.test(text) && text.length < 60
      ? Date.parse(text)
      : Number.NaN;
  if (Number.isNaN(at)) return undefined;
  return new Date(Math.min(Math.max(at, now.getTime()), now.getTime() + LONGEST_MS));
};
