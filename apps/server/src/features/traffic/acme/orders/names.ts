import { checkOrderNames, isAddress, normaliseName } from '@sallyport/acme';
import { refuse } from '@sallyport/store/errors';
import { parseDomainName } from '@sallyport/store/names/domain-name';

/** Names that an authority can certify, normalised. Throws a 400 that names the first that is not, and why. */
export const parseOrderNames = (names: readonly string[], challenge: 'http-01' | 'dns-01'): string[] => {
  const [first] = checkOrderNames(names, challenge);
  if (first) {
    const field = first.index === undefined ? 'names' : `names[${first.index}]`;
    throw refuse.invalid(`${field}: ${first.problem}`);
  }
  return names.map(normaliseName);
};

/** Names that our own authority can certify, normalised: those of one label, too. Throws a 400 that names the first that is not. */
export const parseInternalNames = (names: readonly string[]): string[] => {
  const seen = new Set<string>();
  return names.map((written, index) => {
    let name: string;
    try {
      name = isAddress(written) ? normaliseName(written) : parseDomainName(written);
    } catch (error) {
      throw refuse.invalid(`names[${index}]: ${(error as Error).message}`);
    }
    if (seen.has(name)) throw refuse.invalid(`names[${index}]: ${JSON.stringify(written)} is there twice`);
    seen.add(name);
    return name;
  });
};
