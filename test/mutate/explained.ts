import { readFileSync } from 'node:fs';
import type { Mutant } from './find-mutants.ts';

/** A mutant that no test can or should notice, found again by its text: lines move. */
export interface Explained {
  /** Path from the repository's root. */
  readonly file: string;
  /** The line it is in, trimmed. */
  readonly code?: string;
  /** A constant or function that it is in: all of that is explained. */
  readonly within?: string;
  /** `what was → what is`, as the report shows it. Without it, all mutants of that line. */
  readonly change?: string;
  readonly why: string;
}

/** The list beside this file. */
export const readExplained = (): readonly Explained[] =>
  JSON.parse(readFileSync(new URL('./explained.json', import.meta.url), 'utf8'));

/** The explanation of a mutant, if there is one. */
export const explanationOf = (list: readonly Explained[], mutant: Mutant): Explained | undefined =>
  list.find(
    ({ file, code, within, change }) =>
      file === mutant.file &&
      (code !== undefined || within !== undefined) &&
      (code === undefined || code === mutant.code) &&
      (within === undefined || mutant.within.includes(within)) &&
      (change === undefined || change === mutant.change),
  );

/** Explanations of this file that fit none of its mutants: the code has changed, and what they say is to be read anew. */
export const outdated = (list: readonly Explained[], file: string, mutants: readonly Mutant[]): readonly Explained[] =>
  list.filter((one) => one.file === file && !mutants.some((mutant) => explanationOf([one], mutant)));
