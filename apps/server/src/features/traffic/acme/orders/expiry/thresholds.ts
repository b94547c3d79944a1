const DAY_MS = 86_400_000;
/** So long before its end the expiry of a certificate is told, each once. */
const BEFORE_MS = [14 * DAY_MS, 7 * DAY_MS, 3 * DAY_MS, DAY_MS] as const;
/** What is renewed by then is nothing to be told of: only what comes after that time of its life. */
const LAST_PART = 1 / 3;
const SHORT_PART = 1 / 6;

/**
 * How long before its end the expiry of a certificate of this lifetime is told: 14, 7, 3 and 1 days, those of them that come
 * after it should have been renewed; of one of hours, at a sixth of its lifetime. And once when it is over.
 */
const thresholdsOf = (lifetimeMs: number): number[] => {
  const fitting = BEFORE_MS.filter((ms) => ms < lifetimeMs * LAST_PART);
  return [...(fitting.length > 0 ? fitting : [lifetimeMs * SHORT_PART]), 0];
};

/** The last of those moments that has come; undefined while none has. */
export const thresholdAt = (
  { notBefore, notAfter }: { notBefore: Date; notAfter: Date },
  now: Date,
): number | undefined => {
  const leftMs = notAfter.getTime() - now.getTime();
  return thresholdsOf(notAfter.getTime() - notBefore.getTime())
    .filter((ms) => leftMs <= ms)
    .at(-1);
};
