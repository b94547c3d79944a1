import type { BlockMatch } from '@sallyport/contract';

/**
 * Tells whether a rule of the Core Rule Set only adds up what others found (949, 959 and 980) or sets it up (900, 901):
 * it says nothing about the request, and leaving it out would switch all of them off.
 */
export const isBookkeeping = ({ rule_id }: BlockMatch): boolean =>
  [900, 901, 949, 959, 980].includes(Math.floor(rule_id / 1_000));

const LEAST_SEVERE = 7;

/** The match that explains a refusal best: the rule that decided, or what it counted when it only counted. */
export const tellingMatch = (matches: readonly BlockMatch[], decidedBy: number | null): BlockMatch | undefined => {
  const decisive = matches.find(({ rule_id }) => rule_id === decidedBy);
  if (decisive && !isBookkeeping(decisive)) return decisive;
  const findings = matches.filter((match) => match.rule_id > 0 && !isBookkeeping(match));
  const [worst] = findings.toSorted((a, b) => (a.severity ?? LEAST_SEVERE) - (b.severity ?? LEAST_SEVERE));
  return worst ?? decisive ?? matches[0];
};
