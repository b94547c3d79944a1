/**
 * Country of a canonical IP address as an ISO 3166-1 alpha-2 code in capitals; null when none is known for it.
 * Must not throw and must not wait: it is called for every request of a host with a geo list.
 */
export type CountryLookup = (address: string) => string | null;
