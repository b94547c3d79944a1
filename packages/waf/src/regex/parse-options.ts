import type { PcreFlags } from './ast.ts';
import type { Cursor } from './parse-escape.ts';
import { PatternError } from './pattern-error.ts';

/** What is in force at a place of the pattern: the flags, and options that only the pattern itself can set. */
export type Options = PcreFlags & { ungreedy: boolean; noAutoCapture: boolean };

const optionOfLetter: Readonly<Record<string, keyof Options>> = {
  i: 'caseless',
  m: 'multiline',
  s: 'dotall',
  x: 'extended',
  U: 'ungreedy',
  n: 'noAutoCapture',
};

/** Reads the letters of `(?ims-x)` or `(?ims-x:` at the cursor, up to its `)` or `:`. Throws PatternError. */
export const readOptions = (cursor: Cursor, options: Options): Options => {
  const changed = { ...options };
  let isOn = true;
  if (cursor.source[cursor.at] === '^') {
    Object.assign(changed, { caseless: false, multiline: false, dotall: false, extended: false, noAutoCapture: false });
    cursor.at++;
  }
  for (; ; cursor.at++) {
    const letter = cursor.source[cursor.at] ?? '';
    if (letter === '-') isOn = false;
    else if (letter === ':' || letter === ')') return changed;
    else {
      const option = optionOfLetter[letter];
      if (option === undefined) throw new PatternError(`unsupported group option "${letter}"`, cursor.at);
      changed[option] = isOn;
    }
  }
};
