import type { PcreNode } from './ast.ts';

/** Roughly the capturing groups of a source, before it is parsed: what decides whether `\12` is a reference. */
export const countGroups = (source: string): number => {
  let count = 0;
  for (let at = 0; at < source.length; at++) {
    const letter = source[at];
    if (letter === '\\') at++;
    else if (letter === '[') {
      at += source[at + 1] === '^' ? 2 : 1;
      // A bracket at the very beginning of a class is a member of it.
      if (source[at] === ']') at++;
      for (; at < source.length && source[at] !== ']'; at++) if (source[at] === '\\') at++;
    } else if (letter === '(' && (source[at + 1] !== '?' || /\?(?:P?<[^=!]|')/y.test(source.slice(at + 1, at + 5)))) {
      count++;
    }
  }
  return count;
};

/** The number of capturing groups of a parsed pattern. */
export const countCaptures = (node: PcreNode): number => {
  switch (node.type) {
    case 'capture':
      return Math.max(node.index, countCaptures(node.body));
    case 'repeat':
    case 'atomic':
    case 'look':
      return countCaptures(node.body);
    case 'concat':
    case 'alternate':
      return node.items.reduce((most, item) => Math.max(most, countCaptures(item)), 0);
    default:
      return 0;
  }
};
