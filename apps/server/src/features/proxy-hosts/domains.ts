import { refuse } from '../../errors.ts';
import { parseDomainName } from '../../net/domain-name.ts';

const MAX_NAMES = 100;

/** Splits and normalises the `domain` field; throws a 400 that names the field and the offending name. */
export const parseDomains = (domain: string): string[] => {
  const entries = domain
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length === 0) throw refuse.invalid('domain is required');
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
