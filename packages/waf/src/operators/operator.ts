/** Where an operator leaves what it found besides its verdict. One context serves one rule on one value. */
export interface OperatorContext {
  /** Whether the rule captures; when not, `capture` need not be called. */
  readonly wantsCapture: boolean;
  /** What matching may still cost; operators that search patterns take from it and never exceed it. */
  readonly budget: { units: number; exceeded: boolean };
  /** Sets TX.`index` to buf[start, end). */
  capture(index: number, buf: Uint8Array, start: number, end: number): void;
  /** Sets the GEO collection, null for an address that is not known. */
  geo(result: Record<string, string> | null): void;
}

/** An operator with its argument, ready to run on any number of values. */
export interface OperatorInstance {
  /** What the rule's author should know: the operator stands, but cannot do its work as configured. */
  readonly warning?: string;
  match(buf: Uint8Array, start: number, end: number, context: OperatorContext): boolean;
}

/** What operators need from the world. */
export interface OperatorEnv {
  /** Reads a phrase or address file relative to the rule's own; throws when it cannot. */
  readFile(path: string): Uint8Array;
  /** Country data of an address, null when unknown. Absent: @geoLookup never matches, with a warning. */
  readonly geo?: (address: string) => Record<string, string> | null;
  /**
   * Whether a DNS block list zone lists an address, answered from what was resolved before; undefined when not known
   * yet. Absent: @rbl never matches, with a warning.
   */
  readonly blockList?: (zone: string, address: string) => boolean | undefined;
}

/** A rule's operator that cannot be compiled; the message says which argument is wrong and what was expected. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/** Bytes of rule text, in which one char is one byte. */
export const ruleBytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
