import { compareNumbers } from '../compile/operators.ts';
import type { Link, Rule, Target } from '../compile/program.ts';
import type { Variable } from '../variables/registry.ts';
import type { Entry } from '../variables/source.ts';
import { bytesOf, latin1 } from './bytes.ts';
import { isExcluded, selects } from './name-selection.ts';
import type { Trace } from './trace.ts';
import type { Transaction } from './transaction.ts';
import { applyTransformation, type ByteRange, createTransformBuffers, shrinkBuffers } from './transform.ts';

/** Most matched values that MATCHED_VARS keeps of one rule. */
const maxMatchedVars = 1_000;

/** Values of stored variables that a scan found to match, by source; null: look at every value. */
export type Candidates = readonly Entry[] | null;

/**
 * Evaluates rules exactly: every target, every value, in order. The engine uses it for what cannot be scanned ahead and to
 * confirm what a scan found; the tests use it alone, as the reference that the scanner is compared with.
 */
export const createEvaluator = (trace: Trace | null) => {
  const buffers = createTransformBuffers();
  const range: ByteRange = { buf: buffers.even, start: 0, end: 0 };

  /** The value as it stands in `range`. */
  const onMatch = (tx: Transaction, rule: Rule, link: Link, name: string): void => {
    tx.matchedName = name;
    tx.matchedValue = latin1(range.buf, range.start, range.end);
    if (tx.matchedVars.length < maxMatchedVars) tx.matchedVars.push([name, tx.matchedValue]);
    for (const effect of link.effects) effect(tx, rule);
  };

  const check = (tx: Transaction, rule: Rule, link: Link, name: string): boolean => {
    const operator = link.operator!;
    tx.budget.units -= 8;
    const isMatch = operator.matches(tx, range.buf, range.start, range.end, link.isCapturing) !== operator.isNegated;
    trace?.checked(rule, link, name, range, isMatch && !tx.budget.exceeded);
    // A spent budget answers "no match" whatever was asked; a negation must not turn that into a match.
    if (!isMatch || tx.budget.exceeded) return false;
    onMatch(tx, rule, link, name);
    return true;
  };

  const checkBytes = (
    tx: Transaction,
    rule: Rule,
    link: Link,
    name: string,
    buf: Uint8Array,
    start: number,
    end: number,
  ): boolean => {
    range.buf = buf;
    range.start = start;
    range.end = end;
    if (!link.isMultiMatch) {
      for (const step of link.transformations) {
        tx.budget.units -= range.end - range.start;
        applyTransformation(step, range, buffers);
      }
      return check(tx, rule, link, name);
    }
    let isMatch = check(tx, rule, link, name);
    for (const step of link.transformations) {
      tx.budget.units -= range.end - range.start;
      if (applyTransformation(step, range, buffers) && check(tx, rule, link, name)) isMatch = true;
    }
    return isMatch;
  };

  const checkValue = (tx: Transaction, rule: Rule, link: Link, name: string, value: string | number): boolean => {
    const { numeric, isNegated } = link.operator!;
    if (numeric !== null && link.transformations.length === 0) {
      const argument = numeric.argument.constant ?? numeric.argument.expand(tx);
      const isMatch = compareNumbers(numeric.comparison, value, argument) !== isNegated;
      if (!isMatch && trace === null) return false;
      const bytes = bytesOf(String(value));
      range.buf = bytes;
      range.start = 0;
      range.end = bytes.length;
      trace?.checked(rule, link, name, range, isMatch);
      if (isMatch) onMatch(tx, rule, link, name);
      return isMatch;
    }
    const bytes = bytesOf(String(value));
    return checkBytes(tx, rule, link, name, bytes, 0, bytes.length);
  };

  const checkNamed = (
    tx: Transaction,
    rule: Rule,
    link: Link,
    target: Target,
    values: Iterable<readonly [string, string]>,
  ): boolean => {
    let isMatch = false;
    const { variable } = target;
    const removed = tx.removedTargetsOf(rule);
    for (const [name, value] of values) {
      const key = name.toLowerCase();
      if (!selects(target.selector, key)) continue;
      if (isExcluded(link.exclusions, variable, key) || isExcluded(removed, variable, key)) continue;
      if (checkValue(tx, rule, link, `${variable.name}:${name}`, value)) isMatch = true;
    }
    return isMatch;
  };

  const checkStored = (tx: Transaction, rule: Rule, link: Link, target: Target, candidates: Candidates): boolean => {
    let isMatch = false;
    const { variable, selector } = target;
    const removed = tx.removedTargetsOf(rule);
    for (const source of target.sources) {
      for (const entry of candidates ?? tx.entriesOf(source)) {
        if (entry.source !== source || !selects(selector, entry.key)) continue;
        if (isExcluded(link.exclusions, variable, entry.key) || isExcluded(removed, variable, entry.key)) continue;
        if (checkBytes(tx, rule, link, entryName(variable, entry), entry.buf, entry.start, entry.end)) isMatch = true;
        if (tx.budget.exceeded) return isMatch;
      }
    }
    return isMatch;
  };

  const checkTarget = (tx: Transaction, rule: Rule, link: Link, target: Target, candidates: Candidates): boolean => {
    const { variable } = target;
    if (target.isCount) {
      const name = `&${variable.name}`;
      return !isExcluded(link.exclusions, variable, '') && checkValue(tx, rule, link, name, countValues(tx, target));
    }
    switch (variable.kind) {
      case 'stored':
        return checkStored(tx, rule, link, target, candidates);
      case 'computed': {
        const value = variable.read(tx);
        const isOut = isExcluded(link.exclusions, variable, '') || isExcluded(tx.removedTargetsOf(rule), variable, '');
        return value !== undefined && !isOut && checkValue(tx, rule, link, variable.name, value);
      }
      case 'tx': {
        if (target.slot === -1) return checkNamed(tx, rule, link, target, txValues(tx));
        const value = tx.slots[target.slot];
        if (value === undefined) return false;
        const key = tx.program.txNames[target.slot]!;
        if (link.exclusions.length > 0 && isExcluded(link.exclusions, variable, key)) return false;
        return checkValue(tx, rule, link, `TX:${key}`, value);
      }
      case 'persistent':
        return checkNamed(tx, rule, link, target, tx.collections.entries(variable.collection));
      case 'table':
        return checkNamed(tx, rule, link, target, [...variable.read(tx)]);
      default:
        return variable satisfies never;
    }
  };

  return {
    /** Evaluates one link; its effects run for each value that matches. SecAction always matches. */
    link(tx: Transaction, rule: Rule, link: Link, candidates: Candidates): boolean {
      if (link.operator === null) {
        for (const effect of link.effects) effect(tx, rule);
        return true;
      }
      let isMatch = false;
      for (const target of link.targets) {
        if (checkTarget(tx, rule, link, target, candidates)) isMatch = true;
      }
      return isMatch;
    },
    /** Frees what unusual values made it allocate. */
    endOfTransaction: (): void => shrinkBuffers(buffers),
  };
};

export type Evaluator = ReturnType<typeof createEvaluator>;

/** `ARGS:name`, `REQUEST_URI` … as logs and MATCHED_VAR_NAME show it. */
export const entryName = (variable: Variable, entry: Entry): string =>
  variable.kind === 'stored' && variable.isCollection ? `${variable.name}:${entry.name}` : variable.name;

function* txValues(tx: Transaction): Iterable<readonly [string, string]> {
  const { slots, program } = tx;
  const names = program.txNames;
  const set: [string, string][] = [];
  for (let slot = 0; slot < slots.length; slot++) {
    if (slots[slot] !== undefined) set.push([names[slot]!, String(slots[slot])]);
  }
  for (const [name, value] of tx.extraTx) if (value !== undefined) set.push([name, String(value)]);
  yield* set;
}

/** `&VAR`: how many values the target has. */
const countValues = (tx: Transaction, target: Target): number => {
  const { variable, selector } = target;
  switch (variable.kind) {
    case 'stored': {
      let count = 0;
      for (const source of target.sources) {
        if (selector === null) count += tx.entriesOf(source).length;
        else for (const entry of tx.entriesOf(source)) if (selects(selector, entry.key)) count++;
      }
      return count;
    }
    case 'computed':
      return variable.read(tx) === undefined ? 0 : 1;
    case 'tx':
      if (target.slot !== -1) return tx.slots[target.slot] === undefined ? 0 : 1;
      return countNamed(txValues(tx), target);
    case 'persistent':
      return countNamed(tx.collections.entries(variable.collection), target);
    case 'table':
      return countNamed(variable.read(tx), target);
    default:
      return variable satisfies never;
  }
};

const countNamed = (values: Iterable<readonly [string, string]>, target: Target): number => {
  let count = 0;
  for (const [name] of values) if (selects(target.selector, name.toLowerCase())) count++;
  return count;
};
