import { refuse } from '@sallyport/store/errors';
import { parseDomainName } from '@sallyport/store/names/domain-name';

const MAX_NAMES = 100;

/** Splits and normalises the `domain` field; throws a 400 that names the field and the offending name. */
export const parseDomains = (domain: string): string[] => {
  const entries = domain.split(',').map((entry) => entry.trim());
  if (entries.every((entry) => entry === '')) throw refuse.invalid('domain is required');
  // A name that got lost on the way here must not get lost in silence.
  if (entries.includes('')) throw refuse.invalid('domain has an empty name: two commas in a row, or one at an end');
  if (entries.length > MAX_NAMES) throw refuse.invalid(`domain must have at most ${MAX_NAMES} names`);
  const names = entries.map((entry) => {
    try {
      return parseDomainName(entry);
    } catch (error) {
      throw refuse.invalid(`domain ${(error as Error).message}`);
    }
  });
  return [...new Set(names)];
};
