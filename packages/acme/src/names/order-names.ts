import { limits } from '../model/limits.ts';
import { certificateNameProblem, isAddress, normaliseName } from './certificate-name.ts';

export interface OrderNameProblem {
  /** Which of the names; undefined when it is about all of them. */
  index: number | undefined;
  /** A whole sentence. */
  problem: string;
}

const show = (name: string): string => JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);

/** Whether a wildcard of the list says the same as this name. */
const coveredBy = (name: string, names: ReadonlySet<string>): string | undefined => {
  const parent = `*${name.slice(name.indexOf('.'))}`;
  return name.includes('.') && !isAddress(name) && parent !== name && names.has(parent) ? parent : undefined;
};

/** All reasons why a CA would not take an order for these names; none for an order that it can take. */
export const checkOrderNames = (names: readonly string[], challenge: 'http-01' | 'dns-01'): OrderNameProblem[] => {
  if (names.length === 0) return [{ index: undefined, problem: 'a certificate needs at least one name' }];
  if (names.length > limits.namesPerOrder) {
    const problem = `a certificate can have ${limits.namesPerOrder} names at most, not ${names.length}`;
    return [{ index: limits.namesPerOrder, problem }];
  }
  const all = new Set(names.map(normaliseName));
  const seen = new Set<string>();
  return names.flatMap((written, index) => {
    const name = normaliseName(written);
    const isTwice = seen.has(name);
    seen.add(name);
    const problem = certificateNameProblem(written);
    if (problem !== undefined) return [{ index, problem: `${show(written)} ${problem}` }];
    if (isTwice) return [{ index, problem: `${show(written)} is there twice` }];
    if (name.startsWith('*.') && challenge === 'http-01') {
      return [{ index, problem: `${show(written)} is a wildcard: only the challenge dns-01 can prove it` }];
    }
    if (isAddress(name) && challenge === 'dns-01') {
      return [{ index, problem: `${show(written)} is an address: only the challenge http-01 can prove it` }];
    }
    const wildcard = coveredBy(name, all);
    // Let's Encrypt refuses such an order as a whole.
    if (wildcard !== undefined) return [{ index, problem: `${show(written)} is covered by ${show(wildcard)}` }];
    return [];
  });
};
