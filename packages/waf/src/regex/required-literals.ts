import type { PcreNode } from './ast.ts';
import { literalFrequency } from './byte-frequency.ts';
import { type ByteSet, bytesOf, countBytes } from './byte-set.ts';

/** Lower-case Latin-1 literals of which each match contains at least one. */
export type RequiredLiterals = { literals: string[]; isCaseless: boolean };

/** A byte set of more lower-case members than this is not spelt out. */
const maxSetMembers = 24;
/** Sets of strings multiply up to this size; a product with a single string may be as large as the other factor. */
const maxProduct = 256;
const maxAlternatives = 2000;
/** Sets of strings this rare are not multiplied any more: it would only cost memory. */
const rareEnough = 2e-5;
const maxLiteralLength = 16;
/** What each literal costs the automaton that looks for it, as a frequency. */
const costOfLiteral = 3e-6;
/** Literals that occur this often by chance, at each byte, exclude too little. */
const maxFrequency = 0.02;

/** `exact`: all that the node matches, when that is a short list. `required`: the best of which each match has one. */
type Facts = { exact: string[] | null; required: string[] | null };

const opaque: Facts = { exact: null, required: null };
const zeroWidth: Facts = { exact: [''], required: null };

const lower = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte);

const cost = (literals: string[]): number => {
  let sum = literals.length * costOfLiteral;
  for (const literal of literals) sum += literalFrequency(literal);
  return sum;
};

const isUseful = (literals: string[]): boolean => literals.length > 0 && cost(literals) <= maxFrequency;

const better = (one: string[] | null, other: string[] | null): string[] | null => {
  if (other === null || !isUseful(other)) return one;
  return one === null || cost(other) < cost(one) ? other : one;
};

const product = (ones: string[], others: string[]): string[] | null => {
  const size = ones.length * others.length;
  if (size > maxAlternatives || (size > maxProduct && ones.length > 1 && others.length > 1)) return null;
  const strings = new Set<string>();
  for (const one of ones) {
    for (const other of others) {
      if (one.length + other.length > maxLiteralLength) return null;
      strings.add(one + other);
    }
  }
  return [...strings];
};

/** Leaves out literals that contain another one. */
const minimal = (literals: string[]): string[] => {
  const all = new Set(literals);
  return [...all].filter((literal) => {
    for (let from = 0; from < literal.length; from++) {
      for (let to = from + 1; to <= literal.length; to++) {
        if (to - from < literal.length && all.has(literal.slice(from, to))) return false;
      }
    }
    return true;
  });
};

/** The literals to search for before the pattern is tried, chosen to be rare; null when none follow from it. */
export const requiredLiterals = (root: PcreNode): RequiredLiterals | null => {
  let isCaseless = false;
  const singles = new Map<ByteSet, Facts>();

  const ofSet = (set: ByteSet): Facts => {
    const known = singles.get(set);
    if (known !== undefined) return known;
    let facts = opaque;
    if (countBytes(set) <= maxSetMembers * 2) {
      const members = bytesOf(set);
      const folded = new Set(members.map(lower));
      if (members.some((byte) => byte >= 0x41 && byte <= 0x5a)) isCaseless = true;
      if (folded.size <= maxSetMembers && folded.size > 0) {
        facts = { exact: [...folded].map((byte) => String.fromCharCode(byte)), required: null };
      }
    }
    singles.set(set, facts);
    return facts;
  };

  const ofConcat = (items: Facts[]): Facts => {
    let run: string[] = [''];
    let best: string[] | null = null;
    let isExact = true;
    for (const item of items) {
      const isRare = item.exact !== null && item.exact.length > 1 && best !== null && cost(best) < rareEnough;
      const longer = item.exact === null || isRare ? null : product(run, item.exact);
      if (longer === null) {
        isExact = false;
        best = better(best, item.required);
      }
      run = longer ?? item.exact ?? [''];
      // Each length of the run is a candidate: more bytes are rarer, but may be many more literals.
      best = better(best, run);
    }
    return { exact: isExact ? run : null, required: best };
  };

  const ofAlternate = (items: Facts[]): Facts => {
    if (items.every((item) => item.exact !== null)) {
      const strings = new Set(items.flatMap((item) => item.exact!));
      if (strings.size <= maxAlternatives) return { exact: [...strings], required: better(null, [...strings]) };
    }
    return { exact: null, required: unite(items) };
  };

  const unite = (items: Facts[]): string[] | null => {
    const union = new Set<string>();
    for (const item of items) {
      const literals = better(item.required, item.exact);
      if (literals === null) return null;
      for (const literal of literals) union.add(literal);
      if (union.size > maxAlternatives) return null;
    }
    return isUseful([...union]) ? [...union] : null;
  };

  const visit = (node: PcreNode): Facts => {
    switch (node.type) {
      case 'empty':
      case 'edge':
      case 'look':
        return zeroWidth;
      case 'set':
        return ofSet(node.set);
      case 'capture':
      case 'atomic':
        return visit(node.body);
      case 'backreference':
        return opaque;
      case 'concat':
        return ofConcat(flatten(node));
      case 'alternate':
        return ofAlternate(node.items.map(visit));
      case 'repeat':
        return ofConcat(flatten(node));
    }
  };

  /** The factors of a sequence; an open repeat is its required copies and something unknown. */
  const flatten = (node: PcreNode): Facts[] => {
    if (node.type === 'capture' || node.type === 'atomic') return flatten(node.body);
    if (node.type === 'concat') return node.items.flatMap(flatten);
    if (node.type !== 'repeat') return [visit(node)];
    const body = visit(node.body);
    if (node.max === 0) return [zeroWidth];
    if (node.min === 0) {
      return [node.max === 1 && body.exact !== null ? ofAlternate([body, zeroWidth]) : opaque];
    }
    const copies = Array.from({ length: Math.min(node.min, maxLiteralLength) }, () => body);
    return node.min === node.max && node.min <= maxLiteralLength ? copies : [...copies, opaque];
  };

  const { required } = ofConcat(flatten(root));
  return required === null ? null : { literals: minimal(required), isCaseless };
};
