import type { Place } from './error.ts';

/** One word of a Caddyfile. */
export interface Token extends Place {
  text: string;
  /** What it stood in: `"`, a backtick, `<` for a heredoc, or nothing. */
  quote: '' | '"' | '`' | '<';
  /** Its line as the syntax counts: lines that a backslash joins are one. */
  row: number;
  /** The row of its last character. */
  endRow: number;
  /** Which import brought it, 0 for none: words of different imports are never on one line. */
  chain: number;
}

const isBrace = (token: Token, brace: string): boolean => token.text === brace && token.quote === '';

/** A `{` that opens a block, not a quoted one. */
export const isOpening = (token: Token): boolean => isBrace(token, '{');

/** A `}` that closes a block, not a quoted one. */
export const isClosing = (token: Token): boolean => isBrace(token, '}');

/** Whether `next`, which follows `token`, begins a new line. */
export const startsLine = (token: Token | undefined, next: Token): boolean =>
  token === undefined || token.chain !== next.chain || token.file !== next.file || token.endRow < next.row;
