import { formatNetwork, InvalidNetwork, parseNetwork } from '@sallyport/access';
import { refuse } from '@sallyport/store/errors';

const MAX_ENTRIES = 2_000;

/** Splits a stored (already checked) list. */
export const splitNetworks = (list: string): string[] => (list === '' ? [] : list.split(','));

/**
 * Checks a comma-separated list of addresses and CIDR ranges and writes it canonically, each network once.
 * Throws a 400 that names the field and the offending entry.
 */
export const normaliseNetworks = (text: string, field: string): string => {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length > MAX_ENTRIES) throw refuse.invalid(`${field} must have at most ${MAX_ENTRIES} entries`);
  const networks = entries.map((entry) => {
    try {
      return formatNetwork(parseNetwork(entry));
    } catch (error) {
      if (error instanceof InvalidNetwork) throw refuse.invalid(`${field} ${error.message}`);
      throw error;
    }
  });
  return [...new Set(networks)].join(',');
};
