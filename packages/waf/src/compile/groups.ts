import type { Link } from '../model/program.ts';

/** What grouping needs to know of one rule. */
export type GroupedRule = { readonly links: readonly Link[]; readonly skipTo: number };

const maxGroups = 31;

/**
 * Sorts the rules of a phase into scan groups. A rule that tests nothing but TX and jumps over others (CRS's paranoia-level
 * gates, its switches for application packages) is a gate; rules behind the same gates form one group, in every phase. Groups
 * are scanned only once a transaction gets to them, so levels that are off cost nothing. This is about speed alone: a rule in
 * the wrong group is still evaluated.
 */
export const createGrouping = () => {
  const numbers = new Map<string, number>([['', 0]]);
  const numberOf = (key: string): number => {
    const known = numbers.get(key);
    if (known !== undefined) return known;
    if (numbers.size >= maxGroups) return 0;
    numbers.set(key, numbers.size);
    return numbers.size - 1;
  };
  return {
    /** Group of each rule of one phase, in order. */
    groupsOf(rules: readonly GroupedRule[]): number[] {
      const open: { readonly key: string; readonly end: number }[] = [];
      return rules.map((rule, position) => {
        for (let at = open.length - 1; at >= 0; at--) if (open[at]!.end <= position) open.splice(at, 1);
        const group = numberOf([...new Set(open.map(({ key }) => key))].sort().join('\n'));
        const key = gateKey(rule);
        if (key !== null) open.push({ key, end: rule.skipTo });
        return group;
      });
    },
    get count() {
      return numbers.size;
    },
  };
};

const gateKey = ({ links, skipTo }: GroupedRule): string | null => {
  const [link] = links;
  if (skipTo === -1 || links.length !== 1 || link === undefined || link.operator === null) return null;
  if (link.targets.length === 0 || link.targets.some(({ variable }) => variable.kind !== 'tx')) return null;
  const { name, argument, isNegated } = link.operator;
  const what = link.targets.map(({ isCount, slot }) => `${isCount ? '&' : ''}${slot}`).join('|');
  return `${what} ${isNegated ? '!' : ''}${name} ${argument}`;
};
