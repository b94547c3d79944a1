import type { Program, Rule } from '../../model/program.ts';
import { type Entry, isResponseSource, sourceCount } from '../../model/source.ts';
import type { Phase } from '../../model/transaction.ts';
import type { Evaluator } from '../run/evaluate.ts';
import { applyMatch, evaluateRule, isPhaseOver, type PhaseRunner } from '../run/run-phase.ts';
import type { ScanState } from '../run/scan-state.ts';
import type { Trace } from '../run/trace.ts';
import type { RunningTransaction } from '../run/transaction.ts';
import type { Folded } from './fold-constants.ts';
import { createPhaseTables, nextPosition } from './phase-tables.ts';
import { reachedGroups } from './reached-groups.ts';
import { createScanPlan, type ScanPlan } from './scan-plan.ts';
import { collectScanTests } from './scan-tests.ts';
import { createValueMemo } from './value-memo.ts';
import { createScanScratch } from './value-scanner.ts';

/** A plan holds megabytes of literals. Beside the one in use there may be one that a transaction has just grown out of. */
const maxPlans = 2;
const maxLists = 4_096;
const noHits: readonly number[] = [];

/** Hits in the order of the values: those of a later scan were added late. */
const inOrder = (hits: Entry[] | undefined): Entry[] => {
  if (hits === undefined) return [];
  return hits.length > 1 ? hits.sort((a, b) => a.index - b.index) : hits;
};

/** Runs phases by scanning values ahead, so that only rules with a match, or that cannot be scanned, are evaluated. */
export const createScanningRunner = (
  program: Program,
  evaluator: Evaluator,
  trace: Trace | null,
  memoBytes: number,
  folded: Folded,
): PhaseRunner => {
  const tests = collectScanTests(program);
  const tables = createPhaseTables(program, new Set([...folded.done, ...folded.never]));
  const jumpOf = program.rules.map(({ index }) => folded.jumps.get(index) ?? null);
  const unfoldedTables = createPhaseTables(program, new Set());
  const memo = memoBytes > 0 ? createValueMemo(memoBytes) : null;
  const plans = new Map<number, ScanPlan>();
  const scratch = createScanScratch();
  /** Groups that transactions have needed so far: the next ones scan them in one go. Grows to what is switched on. */
  let standing = reachedGroups(program);

  const lists = new Map<string, readonly number[]>();
  /** One copy of each list of hits: values of one kind match alike. */
  const intern = (hits: readonly number[]): readonly number[] => {
    if (hits.length === 0) return noHits;
    const key = hits.join();
    let list = lists.get(key);
    if (list === undefined) {
      if (lists.size >= maxLists) lists.clear();
      list = [...hits];
      lists.set(key, list);
    }
    return list;
  };

  const planFor = (groups: number): ScanPlan => {
    let plan = plans.get(groups);
    if (plan === undefined) {
      if (plans.size >= maxPlans) plans.clear();
      plan = createScanPlan(
        tests.filter(({ rule }) => (groups & (1 << rule.group)) !== 0),
        tests.length,
        scratch,
      );
      plans.set(groups, plan);
    }
    return plan;
  };

  // Built now, for the first request would wait for it: a rule set is compiled aside and swapped in.
  const first = planFor(standing);
  for (let source = 0; source < sourceCount; source++) if (!isResponseSource(source)) first.classFor(source, '');

  const addHits = (state: ScanState, entry: Entry, found: ArrayLike<number>): void => {
    for (let at = 0; at < found.length; at++) {
      const { rule } = tests[found[at]!]!;
      const list = state.hits.get(rule.index);
      if (list === undefined) state.hits.set(rule.index, [entry]);
      else if (list.at(-1) !== entry) list.push(entry);
    }
  };

  const scanEntries = (tx: RunningTransaction, state: ScanState, groups: number, from: number): void => {
    const plan = planFor(groups);
    for (let index = from; index < tx.entries.length; index++) {
      const entry = tx.entries[index]!;
      const { buf, start, end } = entry;
      const scanClass = plan.classFor(entry.source, entry.key);
      if (scanClass.isEmpty) continue;
      const isKept = memo !== null && end - start <= memo.longest;
      const known = isKept ? memo.get(scanClass.id, buf, start, end) : undefined;
      if (known !== undefined) {
        tx.budget.units -= 16;
        if (known.length > 0) addHits(state, entry, known);
        continue;
      }
      const { scanner } = scanClass;
      const hits = scanner.scan(scanClass, buf, start, end, tx);
      if (tx.budget.exceeded || tx.budget.units < 0) return;
      if (isKept) memo.set(scanClass.id, buf, start, end, intern(hits));
      if (hits.length > 0) addHits(state, entry, hits);
    }
  };

  return (tx: RunningTransaction, phase: Phase): void => {
    tx.scan ??= {
      groups: standing,
      scanned: 0,
      hits: new Map(),
    };
    const state = tx.scan;
    if (state.scanned < tx.entries.length) {
      scanEntries(tx, state, state.groups, state.scanned);
      state.scanned = tx.entries.length;
    }
    const table = (tx.isFolded ? tables : unfoldedTables)[phase]!;
    const jumps = tx.isFolded && trace === null ? jumpOf : null;
    const active = table.start(state.groups);
    for (const index of state.hits.keys()) table.activate(active, index, 0);
    for (let position = nextPosition(active, 0); position !== -1 && !isPhaseOver(tx); ) {
      const rule: Rule = table.rules[position]!;
      const jump = jumps === null ? null : jumps[rule.index]!;
      if (jump !== null && !tx.isRemoved(rule)) {
        tx.rule = rule;
        tx.matchedVars = jump.matchedVars;
        tx.matchedName = jump.matchedName;
        tx.matchedValue = jump.matchedValue;
        position = nextPosition(active, rule.skipTo);
        continue;
      }
      if (rule.isScannable && (state.groups & (1 << rule.group)) === 0) {
        scanEntries(tx, state, 1 << rule.group, 0);
        state.groups |= 1 << rule.group;
        standing |= 1 << rule.group;
        table.settle(active, rule.group);
        for (const index of state.hits.keys()) table.activate(active, index, position);
        position = nextPosition(active, position);
        continue;
      }
      let next = position + 1;
      if (tx.isRemoved(rule)) trace?.skipped(rule, 'removed', null);
      else if (evaluateRule(tx, rule, rule.isScannable ? inOrder(state.hits.get(rule.index)) : null, evaluator)) {
        applyMatch(tx, rule, trace);
        if (rule.skipTo !== -1) next = rule.skipTo;
      }
      position = nextPosition(active, next);
    }
  };
};
