import { isAddress } from '@sallyport/acme';
import { isBlockedAddress } from '../../../net/blocked-addresses.ts';

/**
 * Below these no public authority can give anything: set aside for local use (RFC 6761, 6762, 8375, ICANN's .internal), or never
 * delegated since they are used so.
 */
const INTERNAL_SUFFIXES = [
  ...['internal', 'local', 'localhost', 'home.arpa'],
  ...['lan', 'localdomain', 'home', 'corp', 'intranet', 'private'],
];

/**
 * Tells whether no public authority can give a certificate for a normalised DNS name (a leading `*.` counts not) or address: a private,
 * loopback or otherwise special address, a name of one label, or one below what is set aside for local use.
 */
export const isInternalName = (name: string): boolean => {
  if (isAddress(name)) return isBlockedAddress(name);
  const bare = name.replace(/^\*\./, '');
  return !bare.includes('.') || INTERNAL_SUFFIXES.some((suffix) => bare === suffix || bare.endsWith(`.${suffix}`));
};
