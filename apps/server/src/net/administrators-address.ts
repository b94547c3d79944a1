import { isIP } from 'node:net';
import { isMetadataName, isMetadataOrLinkLocal } from './blocked-addresses.ts';
import { systemLookup } from './system-lookup.ts';
import { withTimeout } from './with-timeout.ts';

const LOOKUP_TIMEOUT_MS = 5_000;

const refused = (host: string): Error => new Error(`${host} is a link-local or metadata address, which is refused`);

/**
 * The address of a host that an administrator named, to connect to: private networks are theirs to use, but nothing that hands out
 * credentials to whoever asks from inside. Rejects with an `Error` that says why not.
 */
export const administratorsAddress = async (host: string, lookup = systemLookup): Promise<string> => {
  if (isIP(host) === 0 && isMetadataName(host)) throw refused(host);
  const addresses = isIP(host) === 0 ? await withTimeout(lookup(host), LOOKUP_TIMEOUT_MS).catch(() => []) : [host];
  if (addresses.some(isMetadataOrLinkLocal)) throw refused(host);
  const [address] = addresses;
  if (address === undefined) throw new Error(`${host} does not resolve`);
  return address;
};
