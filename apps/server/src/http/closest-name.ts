/** Below this a name is another one, not a slip. */
const LEAST_LIKENESS = 0.5;

const bigramsOf = (text: string): string[] =>
  Array.from({ length: text.length - 1 }, (_, at) => text.slice(at, at + 2));

/** Sørensen and Dice: shared pairs of letters, 0 to 1. Survives endings and missing parts. */
const sharedPairs = (a: string, b: string): number => {
  const left = bigramsOf(a);
  const right = bigramsOf(b);
  const all = left.length + right.length;
  let shared = 0;
  for (const pair of left) {
    const at = right.indexOf(pair);
    if (at === -1) continue;
    right.splice(at, 1);
    shared += 1;
  }
  return all === 0 ? 0 : (2 * shared) / all;
};

/** Letters that need not be changed (Levenshtein), 0 to 1. Survives swapped and mistyped letters. */
const keptLetters = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return 1 - (row[b.length] ?? 0) / Math.max(a.length, b.length);
};

/** Whole words of the given name that the other has too: `port` is meant for `forward_port`, not for `websocket_support`. */
const sharedWords = (given: string, name: string): number => {
  const words = given.split('_');
  const others = name.split('_');
  const shared = words.filter((word) => others.includes(word)).length;
  return shared === words.length ? 0.5 + shared / (2 * others.length) : shared / Math.max(words.length, others.length);
};

/** Spelling without what styles differ in: `forwardPort`, `Forward-Port` and `forward_port` are one. */
const plain = (name: string): string =>
  name
    .slice(0, 64)
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/[\s-]+/g, '_')
    .toLowerCase();

/** The one of `names` that a caller most probably meant by `given`; undefined when none is like it. */
export const closestName = (given: string, names: readonly string[]): string | undefined => {
  const meant = plain(given);
  let best: { name: string; likeness: number } | undefined;
  for (const name of names) {
    const likeness = Math.max(sharedPairs(meant, name), keptLetters(meant, name), sharedWords(meant, name));
    if (likeness >= LEAST_LIKENESS && likeness > (best?.likeness ?? 0)) best = { name, likeness };
  }
  return best?.name;
};
