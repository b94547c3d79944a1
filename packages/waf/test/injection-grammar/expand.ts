import { createRandom } from '../support/mutate-request.ts';

/** Of each symbol what it may be: text in which `{symbol}` stands for another one; an alternative that is listed twice comes twice as often. */
export type Grammar = Readonly<Record<string, readonly string[]>>;

/** So deep a sentence may nest before only alternatives without symbols are taken, or else the first. */
const deepest = 5;
const symbolPattern = /\{(\w+)\}/g;

/**
 * Makes sentences of a grammar: `expand(grammar, 'condition')` gives one, a different one each time, the same ones for the same seed. Throws for
 * a symbol that the grammar has not.
 */
export const createExpander = (seed: number) => {
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const expand = (grammar: Grammar, symbol: string, depth = 0): string => {
    const alternatives = grammar[symbol];
    if (alternatives === undefined) throw new Error(`no symbol ${symbol} in the grammar`);
    let chosen = pick(alternatives);
    if (depth > deepest && chosen.includes('{')) {
      const plain = alternatives.filter((alternative) => !alternative.includes('{'));
      chosen = plain.length > 0 ? pick(plain) : alternatives[0]!;
    }
    return chosen.replace(symbolPattern, (_, inner: string) => expand(grammar, inner, depth + 1));
  };
  return { expand, pick, chance: (percent: number): boolean => random(100) < percent };
};

export type Expander = ReturnType<typeof createExpander>;
