import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { CountryResponse } from 'maxmind';
import type { CountryLookup } from './country-lookup.ts';

/** The form of databases that hold nothing but the code. */
interface BareRecord {
  country_code?: string;
}

const PACKAGED = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb';

const load = createRequire(import.meta.url);

/** Where an operator puts a newer or another country database, below the data directory. */
export const ownCountryDatabase = (dataDir: string): string => join(dataDir, 'geo', 'country.mmdb');

/** The country database to use: the operator's, else the packaged one; undefined when there is none. */
export const findCountryDatabase = (dataDir: string): string | undefined => {
  const own = ownCountryDatabase(dataDir);
  if (existsSync(own)) return own;
  try {
    return load.resolve(PACKAGED);
  } catch {
    return undefined;
  }
};

/**
 * Opens a country database in MaxMind's format, with records like GeoLite2's or with `country_code` alone.
 * Throws when the file can't be read: geo lists must not quietly know nothing.
 */
export const openCountryDatabase = (path: string): CountryLookup => {
  // With the first database: most have no list that asks for a country.
  const { Reader } = load('maxmind') as typeof import('maxmind');
  const reader = new Reader<CountryResponse>(readFileSync(path));
  return (address) => {
    const record = reader.get(address) as (Partial<CountryResponse> & BareRecord) | null;
    const code = record?.country_code ?? record?.country?.iso_code;
    return code ? code.toUpperCase() : null;
  };
};

/** As `openCountryDatabase`, for one who rarely asks: tried now, but kept in memory only from the first look-up on. */
export const checkCountryDatabase = (path: string): CountryLookup => {
  openCountryDatabase(path);
  let lookUp: CountryLookup | undefined;
  return (address) => {
    lookUp ??= openCountryDatabase(path);
    return lookUp(address);
  };
};
