import { bytesOf } from '../bytes/bytes.ts';
import { compilePattern } from '../regex/index.ts';

/** What ctl and the SecRuleRemove… directives find rules by. */
export type DirectoryEntry = {
  readonly index: number;
  readonly id: number;
  readonly tags: readonly string[];
  readonly message: string;
};

/** A growing list of rules with look-ups by id range, tag pattern and message pattern; answers are rule indexes in file order. */
export const createRuleDirectory = () => {
  const entries: DirectoryEntry[] = [];
  const indexesWhere = (isWanted: (entry: DirectoryEntry) => boolean): number[] =>
    entries.filter(isWanted).map((entry) => entry.index);
  return {
    add: (entry: DirectoryEntry): void => {
      entries.push(entry);
    },
    byId: (ranges: readonly { from: number; to: number }[]): number[] =>
      indexesWhere(({ id }) => ranges.some(({ from, to }) => id >= from && id <= to)),
    /** Throws when the pattern is not valid. */
    byTag: (pattern: string): number[] => {
      const matches = textMatcher(pattern);
      return indexesWhere(({ tags }) => tags.some(matches));
    },
    /** Throws when the pattern is not valid. */
    byMessage: (pattern: string): number[] => {
      const matches = textMatcher(pattern);
      return indexesWhere(({ message }) => message !== '' && matches(message));
    },
  };
};

export type RuleDirectory = ReturnType<typeof createRuleDirectory>;

const textMatcher = (source: string): ((text: string) => boolean) => {
  const pattern = compilePattern(source);
  return (text) => {
    const bytes = bytesOf(text);
    return pattern.test(bytes, 0, bytes.length, { units: 1_000_000, exceeded: false });
  };
};
