import type { ImportWarning, Place } from './reading.ts';
import { shorten } from './shorten.ts';

/** Something that a proxy host can't express. */
export interface Loss {
  warning: ImportWarning;
  /** Whether it kept requests out: without it, more people would reach more. */
  keptOut: boolean;
}

/** What a message quotes may be as long as a file. */
const MAX_MESSAGE = 400;

/** A warning about what stands at a place. */
export const warn = ({ file, line, column }: Place, message: string): ImportWarning => ({
  file,
  line,
  ...(column !== undefined && { column }),
  message: shorten(message, MAX_MESSAGE),
});

/** What is lost of what stands at a place. */
export const loss = (place: Place, message: string, keptOut = false): Loss => ({
  warning: warn(place, message),
  keptOut,
});
