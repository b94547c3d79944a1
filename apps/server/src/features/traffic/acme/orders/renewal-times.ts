/** When a certificate is due without a word from its authority: with six days left of eighteen, with thirty of ninety. */
const DUE_AFTER = 2 / 3;
/** So much of the lifetime earlier at most, so that those had together are not renewed together. */
const JITTER = 1 / 20;
/** None is renewed sooner than this part of its lifetime after it was had, nor waits longer than this for it. */
const REST = 1 / 20;
const MAX_REST_MS = 12 * 3_600_000;
const CHECK_AGAIN_MS = 6 * 3_600_000;
const MAX_CHECK_MS = 24 * 3_600_000;

export interface Lifetime {
  notBefore: Date;
  notAfter: Date;
}

/** When a certificate is renewed by its lifetime alone. `random`: within 0 and 1. */
export const renewalByLifetime = ({ notBefore, notAfter }: Lifetime, random: number): Date => {
  const lifetimeMs = notAfter.getTime() - notBefore.getTime();
  return new Date(notBefore.getTime() + lifetimeMs * (DUE_AFTER - JITTER * random));
};

/**
 * When a certificate that was had at `hadAt` may be renewed first. A clock that is months ahead finds each one due the moment that it
 * comes, as does an authority whose windows are always over: both would have one after the other.
 */
export const renewableFrom = ({ notBefore, notAfter }: Lifetime, hadAt: Date): Date =>
  new Date(hadAt.getTime() + Math.min((notAfter.getTime() - notBefore.getTime()) * REST, MAX_REST_MS));

/** The later one. */
export const laterOf = (a: Date, b: Date): Date => (a >= b ? a : b);

/** A moment in the window that an authority proposes (RFC 9773, section 4.2): at once when the moment is over. */
export const renewalInWindow = ({ start, end }: { start: Date; end: Date }, now: Date, random: number): Date => {
  const moment = start.getTime() + Math.max(end.getTime() - start.getTime(), 0) * random;
  return new Date(Math.max(moment, now.getTime()));
};

/** Whether a moment chosen before is still one that the authority proposes: it is kept then, whatever else were drawn today. */
export const isInWindow = (moment: Date | null, { start, end }: { start: Date; end: Date }): boolean =>
  moment !== null && moment >= start && moment <= end;

/** When the authority is asked again; `retryAfter` is its own wish. */
export const checkAgainAt = (now: Date, retryAfter?: Date): Date => {
  const asked = retryAfter?.getTime() ?? now.getTime() + CHECK_AGAIN_MS;
  return new Date(Math.min(Math.max(asked, now.getTime() + 60_000), now.getTime() + MAX_CHECK_MS));
};
