import { isIP } from 'node:net';
import type { CountryLookup } from '@sallyport/access';

/** What is kept of an address whose country nobody has asked for: there was no country database. */
export const NOT_LOOKED_UP = '';
/** What is kept of an address that the country database does not know. */
const UNKNOWN = '-';

/** The country of an address as it is kept. Throws when the country database can't be read. */
export const createCountryOf =
  (country: CountryLookup | undefined) =>
  (ip: string): string => {
    if (!country) return NOT_LOOKED_UP;
    return (isIP(ip) !== 0 && country(ip)) || UNKNOWN;
  };

/** What is kept of entries of the `country` of a query: a code in any case, or `unknown`. */
export const keptOf = (country: string): string[] =>
  country === 'unknown' ? [NOT_LOOKED_UP, UNKNOWN] : [country.toUpperCase()];

/** An ISO 3166-1 code, of what is kept; null: not known. */
export const toCode = (kept: string): string | null => (kept === NOT_LOOKED_UP || kept === UNKNOWN ? null : kept);
