/** Numbers below 1 that are the same in each run. */
const seeded = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const PIECES = [
  '{',
  '}',
  ';',
  '"',
  "'",
  '\\',
  '$',
  '#',
  '\n',
  ' ',
  '\t',
  '\0',
  '*',
  '&',
  '[',
  ':',
  '`',
  '${',
  '99999',
  'é',
  '|',
];

/** Texts that differ from one of `texts` in a few places, the same in each run. */
export const mutations = (texts: readonly string[], count: number, seed = 11): string[] => {
  const random = seeded(seed);
  const below = (most: number) => Math.floor(random() * most);
  return Array.from({ length: count }, () => {
    let text = texts[below(texts.length)]!;
    for (let changes = 1 + below(4); changes > 0; changes--) {
      const at = below(text.length + 1);
      const until = random() < 0.5 ? at : at + below(12);
      const other = texts[below(texts.length)]!;
      const from = below(other.length);
      const put = random() < 0.7 ? PIECES[below(PIECES.length)]! : other.slice(from, from + below(40));
      text = text.slice(0, at) + put + text.slice(until);
    }
    return text;
  });
};
