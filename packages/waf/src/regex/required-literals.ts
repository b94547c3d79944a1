import type { PcreNode } from './ast.ts';
import { literalFrequency } from './byte-frequency.ts';
import { type ByteSet, bytesOf, countBytes } from './byte-set.ts';

/** Lower-case Latin-1 literals of which each match contains at least one. */
export type RequiredLiterals = { literals: string[]; isCaseless: boolean };

/** A byte set of more lower-case members than this is not spelt out. */
const maxSetMembers = 24;
const maxStrings = 700;
const maxLiteralLength = 10;
/** Strings this rare are not multiplied any more: it would only cost memory. */
const rareEnough = 1e-4;
/** What each literal costs the automaton that looks for it, as a frequency. */
const costOfLiteral = 1e-5;
/** Literals that occur this often by chance, at each byte, exclude too little. */
const maxFrequency = 0.05;
/** Sequences are read from so many places at once. */
const maxRuns = 2;

/** A set of literals that was weighed: its chance frequency and what it costs. */
type Candidate = { strings: string[]; cost: number };

/**
 * Texts with which every match begins: an `open` one may be the whole match, so what follows in a sequence can be
 * appended to it; after a `done` one more of the match may follow, which is not known.
 */
type Starts = { open: string[]; done: string[] };

/** What is known of a node: how its matches start, unless in too many ways, and the best literals each contains one of. */
type Facts = { starts: Starts | null; required: Candidate | null };

const nothing: Starts = { open: [''], done: [] };
const zeroWidth: Facts = { starts: nothing, required: null };
const opaque: Facts = { starts: null, required: null };

const lower = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte);

/** Weighs literals; null when they exclude too little. */
const weigh = (strings: string[]): Candidate | null => {
  let cost = strings.length * costOfLiteral;
  for (const string of strings) {
    cost += literalFrequency(string);
    if (cost > maxFrequency) return null;
  }
  return strings.length === 0 ? null : { strings, cost };
};

const better = (one: Candidate | null, other: Candidate | null): Candidate | null =>
  one === null || (other !== null && other.cost < one.cost) ? other : one;

const weighStarts = ({ open, done }: Starts): Candidate | null => weigh(done.length === 0 ? open : [...open, ...done]);

const distinct = (strings: string[]): string[] => (strings.length < 2 ? strings : [...new Set(strings)]);

/** The starts of a sequence of two; null when they are too many. */
const append = (run: Starts, next: Starts): Starts | null => {
  const continuations = next.open.length + next.done.length;
  const open: string[] = [];
  const done = [...run.done];
  for (const start of run.open) {
    if (start.length >= maxLiteralLength || (continuations > 1 && literalFrequency(start) < rareEnough)) {
      done.push(start);
      continue;
    }
    for (const string of next.open) open.push(start + string);
    for (const string of next.done) done.push(start + string);
    if (open.length + done.length > maxStrings) return null;
  }
  // Only several starts with several continuations can spell the same string twice.
  return continuations === 1 || run.open.length === 1 ? { open, done } : { open: distinct(open), done: distinct(done) };
};

/** The starts when nothing is known of what follows. */
const closed = ({ open, done }: Starts): Starts | null =>
  open.includes('') ? null : { open: [], done: distinct([...open, ...done]) };

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

/** Joins neighbours of one string each: most of a pattern is plain text. */
const joinText = (items: Facts[]): Facts[] => {
  const joined: Facts[] = [];
  let text = '';
  const flush = (): void => {
    if (text !== '') joined.push({ starts: { open: [text], done: [] }, required: null });
    text = '';
  };
  for (const item of items) {
    const { starts } = item;
    if (starts !== null && starts.done.length === 0 && starts.open.length === 1) {
      text += starts.open[0]!;
      if (text.length >= maxLiteralLength) flush();
    } else {
      flush();
      joined.push(item);
    }
  }
  flush();
  return joined;
};

const ofConcat = (items: Facts[]): Facts => {
  let required: Candidate | null = null;
  let whole: Starts | null = nothing;
  /** Runs that began after an item that is not known exactly; the latest come last. */
  let runs: Starts[] = [];
  for (const item of joinText(items)) {
    const { starts } = item;
    required = better(required, item.required);
    const longer: Starts[] = [];
    const goOn = (run: Starts): Starts | null => {
      const appended = starts === null ? null : append(run, starts);
      if (appended !== null) required = better(required, weighStarts(appended));
      return appended;
    };
    for (const run of runs) {
      const appended = goOn(run);
      if (appended !== null && appended.open.length > 0) longer.push(appended);
    }
    // Nothing to append to: the sequence's start stays what it is.
    if (whole !== null && whole.open.length > 0) whole = goOn(whole) ?? closed(whole);
    const isExact = starts !== null && starts.done.length === 0;
    if (!isExact || (longer.length === 0 && (whole === null || whole.open.length === 0))) {
      longer.push({ open: [''], done: [] });
    }
    runs = longer.length > maxRuns ? longer.slice(-maxRuns) : longer;
  }
  return { starts: whole, required };
};

const ofAlternate = (items: Facts[]): Facts => {
  const open = new Set<string>();
  const done = new Set<string>();
  let isKnown = true;
  const best: string[] = [];
  let hasBest = true;
  for (const { starts, required } of items) {
    if (starts === null) isKnown = false;
    else {
      for (const string of starts.open) open.add(string);
      for (const string of starts.done) done.add(string);
    }
    const branch = starts === null ? required : better(required, weighStarts(starts));
    if (branch === null) hasBest = false;
    else best.push(...branch.strings);
  }
  if (open.size + done.size > maxStrings) isKnown = false;
  return {
    starts: isKnown ? { open: [...open], done: [...done] } : null,
    required: hasBest && best.length <= maxStrings ? weigh(distinct(best)) : null,
  };
};

/** A loop that may not run at all, and may run again. */
const ofLoop = ({ starts }: Facts): Facts =>
  starts === null
    ? opaque
    : { starts: { open: [''], done: distinct([...starts.open, ...starts.done].filter(Boolean)) }, required: null };

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
        const open = [...folded].map((byte) => String.fromCharCode(byte));
        facts = { starts: { open, done: [] }, required: weigh(open) };
      }
    }
    singles.set(set, facts);
    return facts;
  };

  /** The factors of a sequence; a repeat is its required copies and what may follow them. */
  const factors = (node: PcreNode): Facts[] => {
    switch (node.type) {
      case 'empty':
      case 'edge':
      case 'look':
        return [];
      case 'set':
        return [ofSet(node.set)];
      case 'capture':
      case 'atomic':
        return factors(node.body);
      case 'backreference':
        return [opaque];
      case 'concat':
        return node.items.flatMap(factors);
      case 'alternate':
        return [ofAlternate(node.items.map(visit))];
      case 'repeat': {
        if (node.max === 0) return [];
        const body = visit(node.body);
        const copies = Array.from({ length: Math.min(node.min, maxLiteralLength) }, () => body);
        if (copies.length === node.max) return copies;
        return [...copies, node.min === 0 && node.max === 1 ? ofAlternate([body, zeroWidth]) : ofLoop(body)];
      }
    }
  };

  const visit = (node: PcreNode): Facts => {
    const items = factors(node);
    return items.length === 1 ? items[0]! : ofConcat(items);
  };

  const { starts, required } = visit(root);
  const best = starts === null ? required : better(required, weighStarts(starts));
  if (best === null) return null;
  const literals = minimal(best.strings);
  // Single bytes are what the gate's byte classes are for.
  return literals.every((literal) => literal.length === 1) ? null : { literals, isCaseless };
};
