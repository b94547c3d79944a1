import { bytesOf, latin1 } from '../../bytes/bytes.ts';
import { isExcluded, selects } from '../../model/name-selection.ts';
import { compareNumbers } from '../../model/operator.ts';
import type { Link, Rule, Target } from '../../model/program.ts';
import type { Entry } from '../../model/source.ts';
import type { Variable } from '../../model/variable.ts';
import type { Trace } from './trace.ts';
import type { RunningTransaction } from './transaction.ts';
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

  const onMatch = (tx: RunningTransaction, link: Link, name: string, value: string): void => {
    tx.matchedName = name;
    tx.matchedValue = value;
    if (tx.matchedVars.length < maxMatchedVars) tx.matchedVars.push([name, value]);
    for (const effect of link.effects) effect(tx);
  };

  const check = (tx: RunningTransaction, rule: Rule, link: Link, name: string, isKnown: boolean): boolean => {
    const operator = link.operator!;
    tx.budget.units -= 8;
    // What a negated operator finds is what the rule does not want: there is nothing to capture.
    const isCapturing = link.isCapturing && !operator.isNegated;
    const finder = operator.name === 'rxglobal' ? null : (operator.pattern ?? operator.instance);
    if (isKnown && finder !== null) {
      const text = latin1(range.buf, range.start, range.end);
      if (link.isCapturing) {
        const isStable = range.buf !== buffers.even && range.buf !== buffers.odd;
        tx.captureLater(finder, range.buf, range.start, range.end, isStable, text);
      }
      onMatch(tx, link, name, text);
      return true;
    }
    const isMatch = operator.matches(tx, range.buf, range.start, range.end, isCapturing) !== operator.isNegated;
    trace?.checked(rule, link, name, range, isMatch && !tx.budget.exceeded);
    // A spent budget answers "no match" whatever was asked; a negation must not turn that into a match.
    if (!isMatch || tx.budget.exceeded) return false;
    onMatch(tx, link, name, latin1(range.buf, range.start, range.end));
    return true;
  };

  const checkBytes = (
    tx: RunningTransaction,
    rule: Rule,
    link: Link,
    name: string,
    buf: Uint8Array,
    start: number,
    end: number,
    isKnown: boolean,
  ): boolean => {
    range.buf = buf;
    range.start = start;
    range.end = end;
    if (!link.isMultiMatch) {
      for (const step of link.transformations) {
        tx.budget.units -= range.end - range.start;
        applyTransformation(step, range, buffers);
      }
      return check(tx, rule, link, name, isKnown && !link.operator!.isNegated);
    }
    let isMatch = check(tx, rule, link, name, false);
    for (const step of link.transformations) {
      tx.budget.units -= range.end - range.start;
      if (applyTransformation(step, range, buffers) && check(tx, rule, link, name, false)) isMatch = true;
    }
    return isMatch;
  };

  const checkValue = (
    tx: RunningTransaction,
    rule: Rule,
    link: Link,
    name: string,
    value: string | number,
  ): boolean => {
    const { numeric, matchesText, isNegated } = link.operator!;
    if (numeric !== null && link.transformations.length === 0) {
      const isMatch = compareNumbers(numeric, value, tx) !== isNegated;
      if (trace !== null) {
        const bytes = bytesOf(String(value));
        trace.checked(rule, link, name, { buf: bytes, start: 0, end: bytes.length }, isMatch);
      }
      if (isMatch) onMatch(tx, link, name, String(value));
      return isMatch;
    }
    const text = String(value);
    if (matchesText !== null && trace === null && link.transformations.length === 0) {
      tx.budget.units -= 8;
      if (matchesText(tx, text) === isNegated || tx.budget.exceeded) return false;
      onMatch(tx, link, name, text);
      return true;
    }
    const bytes = bytesOf(text);
    return checkBytes(tx, rule, link, name, bytes, 0, bytes.length, false);
  };

  const checkNamed = (
    tx: RunningTransaction,
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

  const checkStored = (
    tx: RunningTransaction,
    rule: Rule,
    link: Link,
    target: Target,
    candidates: Candidates,
  ): boolean => {
    let isMatch = false;
    const { variable, selector } = target;
    const removed = tx.removedTargetsOf(rule);
    for (const source of target.sources) {
      const values =
        candidates ?? (selector?.kind === 'literal' ? tx.entriesNamed(source, selector.key) : tx.entriesOf(source));
      for (const entry of values) {
        if (entry.source !== source || !selects(selector, entry.key)) continue;
        if (isExcluded(link.exclusions, variable, entry.key) || isExcluded(removed, variable, entry.key)) continue;
        if (
          checkBytes(tx, rule, link, entryName(variable, entry), entry.buf, entry.start, entry.end, candidates !== null)
        )
          isMatch = true;
        if (tx.budget.exceeded) return isMatch;
      }
    }
    return isMatch;
  };

  const checkTarget = (
    tx: RunningTransaction,
    rule: Rule,
    link: Link,
    target: Target,
    candidates: Candidates,
  ): boolean => {
    const { variable } = target;
    if (target.isCount) {
      const name = `&${variable.name}${target.selector?.kind === 'literal' ? `:${target.selector.key}` : ''}`;
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
        if (target.slot === -1) return checkNamed(tx, rule, link, target, txValues(tx, target));
        const value = tx.slotValue(target.slot);
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
    link(tx: RunningTransaction, rule: Rule, link: Link, candidates: Candidates): boolean {
      if (link.operator === null) {
        for (const effect of link.effects) effect(tx);
        return true;
      }
      if (trace === null && link.cannotMatch !== null && link.cannotMatch(tx)) return false;
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

/** Slots whose names a target selects. Names known at load never change, so the answer is kept. */
const slotsOf = new WeakMap<Target, readonly number[]>();

const slotsFor = (tx: RunningTransaction, target: Target): readonly number[] => {
  const { txNames } = tx.program;
  let slots = slotsOf.get(target);
  if (slots === undefined) {
    slots = txNames.flatMap((name, slot) => (selects(target.selector, name) ? [slot] : []));
    slotsOf.set(target, slots);
  }
  return slots;
};

const txValues = (tx: RunningTransaction, target: Target): [name: string, value: string][] => {
  const { txNames } = tx.program;
  const values: [string, string][] = [];
  for (const slot of slotsFor(tx, target)) {
    const value = tx.slotValue(slot);
    if (value !== undefined) values.push([txNames[slot]!, String(value)]);
  }
  for (const [name, value] of tx.variables.extra) if (value !== undefined) values.push([name, String(value)]);
  return values;
};

/** `&VAR`: how many values the target has. */
const countValues = (tx: RunningTransaction, target: Target): number => {
  const { variable, selector } = target;
  switch (variable.kind) {
    case 'stored': {
      let count = 0;
      for (const source of target.sources) {
        if (selector === null) count += tx.entriesOf(source).length;
        else if (selector.kind === 'literal') count += tx.entriesNamed(source, selector.key).length;
        else for (const entry of tx.entriesOf(source)) if (selects(selector, entry.key)) count++;
      }
      return count;
    }
    case 'computed':
      return variable.read(tx) === undefined ? 0 : 1;
    case 'tx':
      if (target.slot !== -1) return tx.slotValue(target.slot) === undefined ? 0 : 1;
      return countNamed(txValues(tx, target), target);
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
