import { createToken, type SqlToken } from './token.ts';

/** Where in a value the lexer is, and the token that it writes to. */
export type SqlCursor = {
  buf: Uint8Array;
  at: number;
  end: number;
  /** To MySQL `#` is a comment, and `--` only before a blank; to the others it is the other way round. */
  isMysql: boolean;
  /** Whether a comment was seen that is one to MySQL alone, or to all but MySQL. */
  hasDialectComment: boolean;
  token: SqlToken;
};

export const createCursor = (): SqlCursor => ({
  buf: new Uint8Array(),
  at: 0,
  end: 0,
  isMysql: false,
  hasDialectComment: false,
  token: createToken(),
});

/** Writes a token of the class `kind` whose text is [start, stop), and goes on at `next`. */
export const give = (cursor: SqlCursor, kind: number, start: number, stop: number, next: number): SqlToken => {
  const { token } = cursor;
  token.kind = kind;
  token.start = start;
  token.end = stop;
  token.word = 0;
  token.opening = 0;
  token.closing = 0;
  cursor.at = next;
  return token;
};
