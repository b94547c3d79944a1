import type { Fate, Tried } from './try-mutants.ts';

/** How many of the mutants of one folder or file were noticed. */
export interface Score {
  readonly name: string;
  readonly mutants: number;
  readonly noticed: number;
  readonly explained: number;
  readonly unnoticed: number;
}

/** Scores by what `nameOf` makes of a file, in the order in which they appear. */
export const scoresOf = (tried: readonly Tried[], nameOf: (file: string) => string): readonly Score[] =>
  [...Map.groupBy(tried, ({ mutant }) => nameOf(mutant.file))].map(([name, group]) => {
    const count = (...fates: readonly Fate[]) => group.filter(({ fate }) => fates.includes(fate)).length;
    return {
      name,
      mutants: group.length,
      noticed: count('noticed', 'too long'),
      explained: count('explained'),
      unnoticed: count('survived', 'not reached'),
    };
  });

/** A table in Markdown; the share counts explained mutants as noticed. */
export const renderTable = (scores: readonly Score[]): string =>
  [
    '| folder | mutants | noticed | explained | not noticed | share |',
    '|---|---:|---:|---:|---:|---:|',
    ...scores.map(({ name, mutants, noticed, explained, unnoticed }) => {
      const share = mutants === 0 ? 100 : Math.floor((100 * (noticed + explained)) / mutants);
      return `| ${name} | ${mutants} | ${noticed} | ${explained} | ${unnoticed} | ${share} % |`;
    }),
  ].join('\n');
