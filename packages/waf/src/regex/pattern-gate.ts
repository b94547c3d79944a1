import type { PcreNode } from './ast.ts';
import { setFrequency } from './byte-frequency.ts';
import { addSet, type ByteSet, bytesOf, countBytes, emptySet, setKey } from './byte-set.ts';
import { minLength } from './node-facts.ts';
import { requiredLiterals } from './required-literals.ts';

/** What every match of a pattern contains: cheap conditions to check before the pattern is tried. */
export type PatternGate = {
  /** Lower-case literals; a match, in lower case, contains at least one. Null when none can be derived. */
  literals: Uint8Array[] | null;
  /** False when the literals can be searched without folding the input's case. */
  isCaseless: boolean;
  /** Masks of 256 flags; a match contains a byte of each. Rarest first. */
  byteClasses: Uint8Array[];
  /** A match has at least this many bytes. */
  minLength: number;
};

/** A condition that more bytes than this fulfil excludes next to nothing. */
const maxClassSize = 200;
const maxClauses = 6;

type Clause = { set: ByteSet; share: number };

const isSubset = (one: ByteSet, other: ByteSet): boolean => one.every((word, index) => (word & ~other[index]!) === 0);

/** The rarest clauses, without those that another one implies. */
const rarest = (clauses: Clause[]): Clause[] => {
  if (clauses.length < 2) return clauses;
  const kept: Clause[] = [];
  for (const clause of clauses.toSorted((one, other) => one.share - other.share)) {
    if (kept.length === maxClauses) break;
    if (!kept.some((other) => isSubset(other.set, clause.set))) kept.push(clause);
  }
  return kept;
};

const unite = (clauses: Clause[]): Clause => {
  const set = emptySet();
  for (const clause of clauses) addSet(set, clause.set);
  return { set, share: setFrequency(set) };
};

/** Sets of single bytes are shared by all patterns. */
const known = new WeakMap<ByteSet, Clause[]>();

const clausesOf = (root: PcreNode): Clause[] => {
  const visit = (node: PcreNode): Clause[] => {
    switch (node.type) {
      case 'set': {
        let clauses = known.get(node.set);
        if (clauses === undefined) {
          clauses = countBytes(node.set) > maxClassSize ? [] : [{ set: node.set, share: setFrequency(node.set) }];
          known.set(node.set, clauses);
        }
        return clauses;
      }
      case 'concat': {
        const unique = new Set<Clause>();
        for (const item of node.items) for (const clause of visit(item)) unique.add(clause);
        return rarest([...unique]);
      }
      case 'alternate': {
        const branches = node.items.map(visit);
        const fewest = Math.min(...branches.map((branch) => branch.length), maxClauses);
        const clauses: Clause[] = [];
        for (let rank = 0; rank < fewest; rank++) clauses.push(unite(branches.map((branch) => branch[rank]!)));
        return rarest(clauses.filter(({ set }) => countBytes(set) <= maxClassSize));
      }
      case 'repeat':
        return node.min === 0 ? [] : visit(node.body);
      case 'capture':
      case 'atomic':
        return visit(node.body);
      default:
        return [];
    }
  };
  return rarest(visit(root));
};

const maskOf = (set: ByteSet): Uint8Array => {
  const mask = new Uint8Array(256);
  for (const byte of bytesOf(set)) mask[byte] = 1;
  return mask;
};

/** Derives the gate of a parsed pattern. Sound: what matches the pattern fulfils it. */
export const deriveGate = (root: PcreNode): PatternGate => {
  const required = requiredLiterals(root);
  const unique = new Map(clausesOf(root).map(({ set }) => [setKey(set), set]));
  return {
    literals: required?.literals.map((literal) => Uint8Array.from(Buffer.from(literal, 'latin1'))) ?? null,
    isCaseless: required?.isCaseless ?? false,
    byteClasses: [...unique.values()].map(maskOf),
    minLength: minLength(root),
  };
};

/** Whether the gate lets a text through: what must be true of every text that the pattern matches. */
export const passesGate = (gate: PatternGate, buf: Uint8Array, start: number, end: number): boolean => {
  if (end - start < gate.minLength) return false;
  for (const mask of gate.byteClasses) {
    let at = start;
    while (at < end && mask[buf[at]!] === 0) at++;
    if (at === end) return false;
  }
  if (gate.literals === null) return true;
  const folded = Buffer.from(buf.subarray(start, end));
  for (let at = 0; at < folded.length; at++) {
    const byte = folded[at]!;
    if (byte >= 0x41 && byte <= 0x5a) folded[at] = byte + 32;
  }
  return gate.literals.some((literal) => folded.includes(Buffer.from(literal)));
};
