import { atoi } from '../bytes/bytes.ts';
import type { OperatorInstance } from '../operators/operator.ts';
import type { CompiledPattern } from '../regex/index.ts';
import type { Macro } from './macro.ts';
import type { Transaction } from './transaction.ts';

export type NumericComparison = 'eq' | 'ge' | 'gt' | 'le' | 'lt';

/** A comparison of numbers; `constant` is the argument when it has no macro. */
export type NumericTest = {
  readonly comparison: NumericComparison;
  readonly argument: Macro;
  readonly constant: number | null;
};

/** An operator with its argument, ready to be asked about values. */
export type CompiledOperator = {
  readonly name: string;
  readonly argument: string;
  readonly isNegated: boolean;
  /** True when the answer depends on the value's bytes alone, so that it may be remembered. */
  readonly isPure: boolean;
  /** For @rx without macros: what the scanner gates and runs. */
  readonly pattern: CompiledPattern | null;
  /** For other operators without macros. */
  readonly instance: OperatorInstance | null;
  /** For @pm and @pmFromFile: what is looked for, in any ASCII case. */
  readonly phrases: readonly Uint8Array[] | null;
  /** For numeric comparisons: compared as numbers, without going through bytes. */
  readonly numeric: NumericTest | null;
  /** The argument when it holds macros. */
  readonly macro: Macro | null;
  /** The operator's own answer, before negation. Stores TX.0–9 when `isCapturing`. */
  matches(tx: Transaction, buf: Uint8Array, start: number, end: number, isCapturing: boolean): boolean;
  /** The same for a value that is text already, for operators whose argument has macros; null: none of these. */
  readonly matchesText: ((tx: Transaction, value: string) => boolean) | null;
};

/** Compares as SecLang does: both sides through atoi. */
export const compareNumbers = (
  { comparison, constant, argument }: NumericTest,
  value: string | number,
  tx: Transaction,
): boolean => {
  const left = typeof value === 'number' ? value : atoi(value);
  const right = constant ?? atoi(argument.expand(tx));
  switch (comparison) {
    case 'eq':
      return left === right;
    case 'ge':
      return left >= right;
    case 'gt':
      return left > right;
    case 'le':
      return left <= right;
    case 'lt':
      return left < right;
    default:
      return comparison satisfies never;
  }
};
