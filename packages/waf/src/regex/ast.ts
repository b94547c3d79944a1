import type { ByteSet } from './byte-set.ts';

/** The compile options of PCRE that SecLang engines set. */
export type PcreFlags = {
  /** ASCII letters match both cases. */
  caseless: boolean;
  /** `.` matches a newline too. */
  dotall: boolean;
  /** `^` and `$` match at every line. */
  multiline: boolean;
  /** White space and `#` comments in the pattern are ignored. */
  extended: boolean;
  /** Without `multiline`, `$` matches only at the very end, not before a final newline. */
  dollarEndonly: boolean;
};

/** One side of a position: the bytes that may stand there, and whether the end of the text may. */
export type EdgeSide = { bytes: ByteSet; boundary: boolean };

/** A condition on the two neighbours of a position; it holds when any of the pairs does. */
export type EdgePairs = readonly { before: EdgeSide; after: EdgeSide }[];

export type RepeatMode = 'greedy' | 'lazy' | 'possessive';

/** A parsed pattern. Case folding, flags and classes are resolved: only sets of bytes are left. */
export type PcreNode =
  | { type: 'empty' }
  | { type: 'set'; set: ByteSet }
  | { type: 'concat'; items: PcreNode[] }
  | { type: 'alternate'; items: PcreNode[] }
  /** `max` is Infinity when open. */
  | { type: 'repeat'; body: PcreNode; min: number; max: number; mode: RepeatMode }
  | { type: 'capture'; index: number; name: string | null; body: PcreNode }
  | { type: 'atomic'; body: PcreNode }
  | { type: 'look'; ahead: boolean; negative: boolean; body: PcreNode }
  | { type: 'edge'; pairs: EdgePairs }
  | { type: 'backreference'; index: number; caseless: boolean };

export const emptyNode: PcreNode = { type: 'empty' };
