import type { CountryLookup } from '@sallyport/access';
import { findCountryDatabase, openCountryDatabase } from '@sallyport/access/country-database';

/** Looks countries up in the database of this data directory, which takes memory from the first look-up on; undefined without one. */
export const findCountry = (dataDir: string): CountryLookup | undefined => {
  const path = findCountryDatabase(dataDir);
  if (path === undefined) return undefined;
  let open: CountryLookup | undefined;
  return (address) => {
    open ??= openCountryDatabase(path);
    return open(address);
  };
};
