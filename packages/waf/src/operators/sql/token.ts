/** Classes of SQL tokens, as the bytes of the letters that fingerprints are written with. */
export const KIND = {
  name: 0x6e, // n: a name, or a word that means nothing to SQL
  number: 0x31, // 1
  text: 0x73, // s: a quoted text
  variable: 0x76, // v: @x, and what acts like one (null, current_date)
  function: 0x66, // f
  operator: 0x6f, // o
  logic: 0x26, // &: and, or, xor, && and ||
  keyword: 0x6b, // k
  statement: 0x45, // E: what begins an expression or a query (select, insert, set, case)
  command: 0x54, // T: what begins a statement of a script (declare, exec, drop)
  union: 0x55, // U
  group: 0x42, // B: what may follow a condition (group by, order by, having, limit)
  type: 0x74, // t: the name of a data type
  collate: 0x41, // A
  comment: 0x63, // c
  open: 0x28,
  close: 0x29,
  openBrace: 0x7b,
  closeBrace: 0x7d,
  dot: 0x2e,
  comma: 0x2c,
  colon: 0x3a,
  semicolon: 0x3b,
  backslash: 0x5c,
  unknown: 0x3f,
  evil: 0x58, // X: what servers read differently, so that only an attack has a use for it
} as const;

/** One token: its class and where its text (of a quoted text without the quotes) lies in the value. */
export type SqlToken = {
  kind: number;
  start: number;
  end: number;
  /** The word or phrase in the dictionary, 0 for none. */
  word: number;
  /** The quote it opens with; 0 for none, also where the value itself is taken to lie in quotes. */
  opening: number;
  /** The quote it closes with; 0 when the value ends first. */
  closing: number;
};

export const createToken = (): SqlToken => ({ kind: 0, start: 0, end: 0, word: 0, opening: 0, closing: 0 });
