/** How reading code ended. */
export const CODE = {
  /** Two operands in a row, a call of a number: no JavaScript. */
  invalid: 0,
  /** The value is over where more code must follow. */
  cut: 1,
  /** The value is over within a text or template that it began, which the page's own quote ends. */
  inText: 2,
  /** The rest is a comment. */
  comment: 3,
  /** A brace closed that was not opened in the value. */
  closed: 4,
} as const;

/** Reading has not ended yet. */
export const GOES_ON = -1;

/** Where code is read, and what may follow there. */
export type CodeReading = {
  readonly buf: Uint8Array;
  /** Where it began. */
  readonly start: number;
  readonly end: number;
  /** Whether it began where an expression begins, not behind a text that the value stands in. */
  readonly beganWithOperand: boolean;
  at: number;
  /** Whether an operand must follow. */
  isOperandNext: boolean;
  /** Behind an operand, whether it is a name, an index or in parentheses: what can be called. The value's own text is not. */
  isCallable: boolean;
  /** Behind an operand, whether it may be assigned to. */
  isTarget: boolean;
  /** The last byte that was no blank, of those that tell whether a target may begin. */
  previous: number;
  depth: number;
  isHeadNext: boolean;
  /** Whether it does something: calls, assigns, makes an object. */
  runs: boolean;
};

const SEMICOLON = 0x3b;

/** Begins to read buf[start, end). */
export const beginCode = (buf: Uint8Array, start: number, end: number, expectsOperand: boolean): CodeReading => ({
  buf,
  start,
  end,
  beganWithOperand: expectsOperand,
  at: start,
  isOperandNext: expectsOperand,
  isCallable: false,
  isTarget: false,
  previous: expectsOperand ? SEMICOLON : 0,
  depth: 0,
  isHeadNext: false,
  runs: false,
});
