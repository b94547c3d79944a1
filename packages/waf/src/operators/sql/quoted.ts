import { findByte } from '../../bytes/find-bytes.ts';
import { give, type SqlCursor } from './cursor.ts';
import { KIND, type SqlToken } from './token.ts';

const BACKSLASH = 0x5c;

/**
 * Reads a text from `start`, behind its opening quote (0: none is in the value), up to its closing one; a doubled quote and one behind an odd
 * number of backslashes are part of it.
 */
export const readQuoted = (cursor: SqlCursor, start: number, quote: number, opening: number): SqlToken => {
  const { buf, end, token } = cursor;
  let stop = start;
  for (;;) {
    stop = findByte(buf, quote, stop, end);
    if (stop < 0) {
      give(cursor, KIND.text, start, end, end);
      token.opening = opening;
      return token;
    }
    let backslashes = 0;
    while (stop - 1 - backslashes >= start && buf[stop - 1 - backslashes] === BACKSLASH) backslashes++;
    if (backslashes % 2 === 1) stop++;
    else if (stop + 1 < end && buf[stop + 1] === quote) stop += 2;
    else break;
  }
  give(cursor, KIND.text, start, stop, stop + 1);
  token.opening = opening;
  token.closing = quote;
  return token;
};

/** Reads a text between two marks, neither of which is escaped; `stop` is where the closing one begins, negative where there is none. */
export const readDelimited = (
  cursor: SqlCursor,
  start: number,
  stop: number,
  markLength: number,
  mark: number,
): SqlToken => {
  const { end, token } = cursor;
  if (stop < 0) give(cursor, KIND.text, start, end, end);
  else give(cursor, KIND.text, start, stop, stop + markLength);
  token.opening = mark;
  token.closing = stop < 0 ? 0 : mark;
  return token;
};
