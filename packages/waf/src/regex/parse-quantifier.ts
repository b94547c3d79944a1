import type { RepeatMode } from './ast.ts';
import type { Cursor } from './parse-escape.ts';
import { PatternError } from './pattern-error.ts';

export type Quantifier = { min: number; max: number; mode: RepeatMode };

/** PCRE's own limit. */
const maxRepeat = 65_535;

const readCounts = (cursor: Cursor): { min: number; max: number } | null => {
  const braces = /\{(\d{1,6})(?:(,)(\d{1,6})?)?\}/y;
  braces.lastIndex = cursor.at;
  const found = braces.exec(cursor.source);
  if (found === null) return null;
  const min = Number(found[1]);
  const open = found[2] === undefined ? min : Number.POSITIVE_INFINITY;
  const max = found[3] === undefined ? open : Number(found[3]);
  if (min > maxRepeat || (max > maxRepeat && max !== Number.POSITIVE_INFINITY)) {
    throw new PatternError('repeat count above 65535', cursor.at);
  }
  if (max < min) throw new PatternError('repeat counts out of order', cursor.at);
  cursor.at += found[0].length;
  return { min, max };
};

/** Reads a quantifier at the cursor, null when there is none: a brace that is no count is a literal. Throws PatternError. */
export const readQuantifier = (cursor: Cursor, isUngreedy: boolean): Quantifier | null => {
  const letter = cursor.source[cursor.at];
  let counts: { min: number; max: number } | null;
  if (letter === '{') {
    counts = readCounts(cursor);
    if (counts === null) return null;
  } else if (letter === '*' || letter === '+' || letter === '?') {
    counts = { min: letter === '+' ? 1 : 0, max: letter === '?' ? 1 : Number.POSITIVE_INFINITY };
    cursor.at++;
  } else return null;
  const suffix = cursor.source[cursor.at];
  if (suffix === '?' || suffix === '+') cursor.at++;
  if (suffix === '+') return { ...counts, mode: 'possessive' };
  return { ...counts, mode: (suffix === '?') !== isUngreedy ? 'lazy' : 'greedy' };
};
