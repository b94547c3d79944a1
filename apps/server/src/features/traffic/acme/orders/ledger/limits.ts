import { sameNames } from '@sallyport/acme';
import { DIRECTORIES } from '../../accounts/directories.ts';

const HOUR_MS = 3_600_000;
const WEEK_MS = 7 * 24 * HOUR_MS;

/** What may be asked of an authority. */
export interface Limits {
  /** Certificates for one registered domain in a week. */
  perDomain: number;
  /** Certificates for exactly the same names in a week. */
  perNames: number;
  /** Orders of an account in three hours. */
  perAccount: number;
  /** Failed validations of a name in an hour. */
  failures: number;
}

/** https://letsencrypt.org/docs/rate-limits/ as of 2025. */
const LETS_ENCRYPT: Limits = { perDomain: 50, perNames: 5, perAccount: 300, failures: 5 };

const LIMITS: Readonly<Record<string, Limits>> = {
  [DIRECTORIES.letsencrypt]: LETS_ENCRYPT,
  [DIRECTORIES['letsencrypt-staging']]: { perDomain: 30_000, perNames: 30_000, perAccount: 1_500, failures: 200 },
};

/** Limits of a directory; undefined for an authority whose limits nobody has written down here, a private one above all. */
export const limitsOf = (directoryUrl: string): Limits | undefined => LIMITS[directoryUrl];

/** What was asked of one directory, as far as it still counts. */
export interface Asked {
  accountUrl: string;
  names: readonly string[];
  registeredDomains: readonly string[];
  /** Exempt from limits on orders (RFC 9773, section 5). */
  isRenewal: boolean;
  /** `refused`: no certificate comes of it, whoever said no; `failed`: no order, but that the validation of each of these names failed. */
  outcome: 'ordered' | 'issued' | 'failed' | 'refused';
  at: Date;
}

/** An order that is refused before the authority would refuse it. */
export class LimitReached extends Error {
  /** When it is possible again. */
  readonly until: Date;
  constructor(message: string, until: Date) {
    super(message);
    this.name = 'LimitReached';
    this.until = until;
  }
}

export interface LedgerQuestion {
  asked: readonly Asked[];
  limits: Limits;
  accountUrl: string;
  names: readonly string[];
  registeredDomains: readonly string[];
  isRenewal: boolean;
  now: Date;
}

/** Those of the last `ms`. What was noted by a clock that ran ahead does not count, for it would until that time comes. */
const within = (asked: readonly Asked[], now: Date, ms: number): Asked[] =>
  asked.filter(({ at }) => at.getTime() > now.getTime() - ms && at.getTime() <= now.getTime() + HOUR_MS);

/** When the one of them is over that keeps one more from being below the limit. */
const freeAt = (counted: readonly Asked[], limit: number, ms: number): Date | undefined => {
  if (counted.length < limit) return undefined;
  const times = counted.map(({ at }) => at.getTime()).sort((a, b) => a - b);
  return new Date((times[counted.length - limit] ?? 0) + ms);
};

/** Throws `LimitReached` for an order that would go beyond what the authority allows, with when it is possible again. */
export const checkLimits = (question: LedgerQuestion): void => {
  const { asked, limits, accountUrl, names, registeredDomains, isRenewal, now } = question;
  const refuseUntil = (until: Date | undefined, why: string): void => {
    if (until) throw new LimitReached(`${why}; it is possible again at ${until.toISOString()}`, until);
  };
  const failed = within(asked, now, HOUR_MS).filter(({ outcome }) => outcome === 'failed');
  for (const name of names) {
    const until = freeAt(
      failed.filter((one) => one.names.includes(name)),
      limits.failures,
      HOUR_MS,
    );
    refuseUntil(until, `the validation of ${name} failed ${limits.failures} times within an hour`);
  }
  // What follows a certificate by ARI is exempt from what is left.
  if (isRenewal) return;
  const orders = asked.filter((one) => !one.isRenewal && one.outcome !== 'failed');
  const ofAccount = within(orders, now, 3 * HOUR_MS).filter((one) => one.accountUrl === accountUrl);
  refuseUntil(
    freeAt(ofAccount, limits.perAccount, 3 * HOUR_MS),
    `the account has made ${limits.perAccount} orders within three hours`,
  );
  const had = within(orders, now, WEEK_MS).filter(({ outcome }) => outcome === 'ordered' || outcome === 'issued');
  refuseUntil(
    freeAt(
      had.filter((one) => sameNames(one.names, names)),
      limits.perNames,
      WEEK_MS,
    ),
    `${limits.perNames} certificates for exactly these names were ordered within a week`,
  );
  for (const domain of registeredDomains) {
    const ofDomain = had.filter((one) => one.registeredDomains.includes(domain));
    refuseUntil(
      freeAt(ofDomain, limits.perDomain, WEEK_MS),
      `${limits.perDomain} certificates for ${domain} were ordered within a week`,
    );
  }
};

/** The registered domains that authorities count by (Public Suffix List), sorted; of an address and a public suffix itself. */
export const registeredDomainsOf = async (names: readonly string[]): Promise<string[]> => {
  // A list of some hundred kilobytes: only for who orders certificates.
  const { getDomain } = await import('tldts');
  const domainOf = (name: string): string => {
    const bare = name.replace(/^\*\./, '');
    return getDomain(bare, { allowPrivateDomains: true }) ?? bare;
  };
  return [...new Set(names.map(domainOf))].sort();
};
