import { maskOfFlags } from '../../bytes/byte-bits.ts';
import { bytesOf } from '../../bytes/bytes.ts';
import type { CompiledOperator } from '../../model/operator.ts';
import type { Link, Program, Rule } from '../../model/program.ts';
import { scriptNeeds } from '../../operators/html/detect-script.ts';
import type { OperatorContext, OperatorInstance } from '../../operators/operator.ts';
import { classConditions } from '../../regex/index.ts';

/** What must be true of a value before a rule's operator is worth running on it. */
export type ScanGate = {
  /** A value that can match has a class bit in common with each. */
  readonly conditions: readonly number[];
  readonly minLength: number;
  /** Lower-case literals of which a value that can match contains one; null: no such condition. */
  readonly literals: readonly Uint8Array[] | null;
  /** The literals decide alone: where one occurs the operator matches. */
  readonly isExact: boolean;
};

/** The head of a scannable rule as the scanner runs it. */
export type ScanTest = {
  readonly index: number;
  readonly rule: Rule;
  readonly link: Link;
  readonly operator: CompiledOperator;
  readonly gate: ScanGate;
};

const open: ScanGate = { conditions: [], minLength: 0, literals: null, isExact: false };

/** The gate of an operator. Sound: what the operator matches passes. */
export const gateOf = (operator: CompiledOperator): ScanGate => {
  const { pattern, name, argument, phrases } = operator;
  if (pattern !== null) {
    const { gate } = pattern;
    return {
      conditions: classConditions(gate.byteClasses),
      minLength: gate.minLength,
      literals: gate.literals,
      isExact: false,
    };
  }
  if (phrases !== null) return { ...open, literals: phrases, isExact: true };
  switch (name) {
    case 'contains':
    case 'strmatch':
    case 'containsword':
    case 'beginswith':
    case 'endswith':
    case 'streq':
      return textGate(argument);
    case 'validateurlencoding':
      return { ...open, conditions: [maskOfFlags(flagsOf('%'))], minLength: 1 };
    case 'validatebyterange':
      return { ...open, conditions: [maskOfFlags(refusedBytes(operator.instance!))], minLength: 1 };
    case 'detectsqli':
      return { ...open, minLength: 2 };
    case 'detectxss':
      return { ...open, conditions: scriptNeeds.map((bytes) => maskOfFlags(flagsOf(bytes))), minLength: 2 };
    default:
      return open;
  }
};

/** Text operators compare case-sensitively; the class bits of the argument's bytes must all be there. */
const textGate = (argument: string): ScanGate => {
  const bytes = bytesOf(argument);
  const conditions = [...new Set([...bytes].map((byte) => maskOfFlags(flagsOf(String.fromCharCode(byte)))))];
  return { ...open, conditions, minLength: bytes.length };
};

/** The bytes that make @validateByteRange match, found by asking it. */
const refusedBytes = (instance: OperatorInstance): Uint8Array => {
  const context: OperatorContext = {
    wantsCapture: false,
    budget: { units: 1_000, exceeded: false },
    capture: () => undefined,
    geo: () => undefined,
  };
  return Uint8Array.from({ length: 256 }, (_, byte) => (instance.match(Uint8Array.of(byte), 0, 1, context) ? 1 : 0));
};

const flagsOf = (chars: string): Uint8Array => {
  const flags = new Uint8Array(256);
  for (let at = 0; at < chars.length; at++) flags[chars.charCodeAt(at)] = 1;
  return flags;
};

/** The tests of a program, numbered. */
export const collectScanTests = (program: Program): ScanTest[] =>
  program.rules
    .filter((rule) => rule.isScannable)
    .map((rule, index) => {
      const link = rule.links[0]!;
      const operator = link.operator!;
      return { index, rule, link, operator, gate: gateOf(operator) };
    });
