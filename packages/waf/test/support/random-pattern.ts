import fc from 'fast-check';

/** Which constructs a random pattern may hold. */
export type PatternKind = 'regular' | 'irregular';

const atoms = ['a', 'b', 'A', '.', '[ab]', '[^a]', '\\w', '\\W', '\\s', '\\d', '[b-d]', '(?i:a)', '-', '\\x0a'];
const edges = ['^', '$', '\\b', '\\B', '(?=a)', '(?!b)', '(?<=a)', '(?<!b)', '(?m:^)', '(?m:$)', '\\A', '\\z'];
const quantifiers = ['*', '+', '?', '*?', '+?', '??', '{2}', '{1,3}', '{0,2}?', '{2,}', '{1,2}?'];

/**
 * Random patterns over a small alphabet, so that matches are frequent. Perl and PCRE disagree on what an empty turn of a
 * counted group captures: without `countsGroups` there are no such groups.
 */
export const randomPattern = (kind: PatternKind, countsGroups: boolean): fc.Arbitrary<string> => {
  const leaf = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...atoms) },
    { weight: 2, arbitrary: fc.constantFrom(...edges) },
  );
  const { pattern } = fc.letrec<{ pattern: string; sequence: string; item: string; group: string }>((tie) => ({
    group: fc
      .tuple(fc.constantFrom('(', '(', '(?:', ...(kind === 'irregular' ? ['(?>', '(?=', '(?!'] : [])), tie('pattern'))
      .map(([open, body]) => `${open}${body})`),
    item: fc
      .tuple(
        fc.oneof(
          { maxDepth: 2, depthIdentifier: 'group' },
          { weight: 5, arbitrary: leaf },
          { weight: 3, arbitrary: tie('group') },
        ),
        fc.option(
          fc.tuple(fc.constantFrom(...quantifiers), fc.constantFrom('', '', '', kind === 'irregular' ? '+' : '')),
        ),
      )
      .map(([atom, quantifier]) => {
        // Perl and PCRE refuse or ignore a quantifier after an assertion: the group makes it one of a group.
        if (quantifier === null) return atom;
        const [counted, possessive] = quantifier;
        const times = counted.startsWith('{') && !countsGroups && !atoms.includes(atom) ? '*' : counted;
        const repeated =
          edges.includes(atom) || atom.startsWith('(?=') || atom.startsWith('(?!') ? `(?:${atom})` : atom;
        return `${repeated}${times}${times.endsWith('?') && times.length > 1 ? '' : possessive}`;
      }),
    sequence: fc.array(tie('item'), { minLength: 1, maxLength: 3 }).map((items) => items.join('')),
    pattern: fc.array(tie('sequence'), { minLength: 1, maxLength: 2 }).map((branches) => branches.join('|')),
  }));
  return pattern;
};

/** Texts of the same alphabet. */
export const randomText = (): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom('a', 'a', 'b', 'b', 'A', 'c', '1', ' ', '-', '\n'), { maxLength: 14 })
    .map((letters) => letters.join(''));
