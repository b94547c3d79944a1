import { defaultLimits } from '../../model/limits.ts';
import type { Link, PhaseProgram, Program, Rule, Target } from '../../model/program.ts';
import type { TxValue } from '../../model/transaction.ts';
import { emptyRequest } from '../run/empty-request.ts';
import { createEvaluator } from '../run/evaluate.ts';
import { createMemoryStore } from '../run/memory-store.ts';
import { evaluateRule } from '../run/run-phase.ts';
import { RunningTransaction } from '../run/transaction.ts';

/** What every transaction of a rule set begins with, instead of running the rules that always come to the same. */
export type Folded = {
  /** TX as those rules leave it. */
  readonly slots: readonly TxValue[];
  /** Rules whose effects are in `slots`, by index. */
  readonly done: ReadonlySet<number>;
  /** Rules that can never match, by index. */
  readonly never: ReadonlySet<number>;
  /** Rules that always match and do nothing but go on at their `skipTo` (paranoia-level gates), by index. */
  readonly jumps: ReadonlyMap<number, Jump>;
  /** TX variables that what was folded is decided by: a request that sets one of them itself takes the long way. */
  readonly decidedBy: ReadonlySet<number>;
};

/** What is left of a jump's match for later rules to see. */
export type Jump = {
  readonly matchedVars: (readonly [name: string, value: string])[];
  readonly matchedName: string;
  readonly matchedValue: string;
};

const firstNamedSlot = 10;

/**
 * Works out at load what does not depend on the request: the defaults that CRS sets in TX, and comparisons of what nothing changes
 * afterwards (paranoia-level gates). A rule is folded only when running it up front can make no difference to any rule that stays.
 */
export const foldConstants = (program: Program): Folded => {
  const tx = new RunningTransaction(
    program,
    emptyRequest,
    { ...defaultLimits, mode: 'block' },
    createMemoryStore(16),
    null,
  );
  const evaluator = createEvaluator(null);
  const done = new Set<number>();
  const never = new Set<number>();
  const jumps = new Map<number, Jump>();
  foldAssignments(program.phases[1]!);
  findSettled();
  const slots = tx.variables.slots.slice();
  tx.arena.release();
  return { slots, done, never, jumps, decidedBy: new Set(program.rules.flatMap(decidedBy)) };

  /** What a folded rule reads, but for what it only gives a default to: a variable that is set already keeps its value. */
  function decidedBy({ index, links }: Rule): number[] {
    const footprints = links.flatMap(({ effects }) => effects.map(({ footprint }) => footprint));
    const reads = [...links.flatMap(readsOf), ...footprints.flatMap((footprint) => footprint?.reads ?? [])];
    if (never.has(index) || jumps.has(index)) return reads;
    const writes = footprints.flatMap((footprint) => footprint?.writes ?? []);
    return done.has(index) ? reads.filter((slot) => writes.some((written) => written !== slot)) : [];
  }

  /** Assignments of phase 1, from its beginning to where the request may decide what runs. */
  function foldAssignments({ rules }: PhaseProgram): void {
    const staying = createChanges(program);
    const removed = new Set<number>();
    let jumpEnd = 0;
    let isCertain = true;
    for (const [position, rule] of rules.entries()) {
      const canFold = isCertain && position >= jumpEnd && !removed.has(rule.index) && isQuiet(rule);
      if (canFold && staying.allowFolding(rule)) {
        evaluateRule(tx, rule, null, evaluator);
        done.add(rule.index);
        continue;
      }
      if (cannotMatch(rule, staying)) {
        never.add(rule.index);
        continue;
      }
      staying.add(rule);
      for (const effect of rule.links.flatMap(({ effects }) => effects)) {
        if (effect.footprint === undefined) isCertain = false;
        for (const index of effect.footprint?.removes?.() ?? []) removed.add(index);
      }
      if (rule.disruption.kind !== 'pass') isCertain = false;
      jumpEnd = Math.max(jumpEnd, rule.skipTo);
    }
  }

  /** Rules of any phase that compare what only folded rules have written. */
  function findSettled(): void {
    const isLeft = ({ index }: Rule): boolean => !done.has(index) && !never.has(index);
    const left = program.rules.filter(isLeft);
    const staying = createChanges(program);
    for (const rule of left) staying.add(rule);
    for (const rule of left) {
      if (cannotMatch(rule, staying)) never.add(rule.index);
      else if (isBareJump(rule) && isSettled(rule.links[0]!, staying)) {
        // Known to match by now.
        evaluateRule(tx, rule, null, evaluator);
        const { matchedVars, matchedName, matchedValue } = tx;
        jumps.set(rule.index, { matchedVars, matchedName, matchedValue });
      }
    }
  }

  /** Whether the head reads TX variables that no rule of `staying` writes, and does not match them as they are now. */
  function cannotMatch(rule: Rule, staying: ReturnType<typeof createChanges>): boolean {
    const head = rule.links[0]!;
    return isSettled(head, staying) && !evaluator.link(tx, rule, { ...head, effects: [], isCapturing: false }, null);
  }
};

/** The link compares TX variables that no rule of `staying` writes. */
const isSettled = (link: Link, staying: ReturnType<typeof createChanges>): boolean =>
  link.operator !== null && readsOnlyNamedTx(link) && !readsOf(link).some(staying.mayWrite);

/** Matching does nothing but leave out the rules up to `skipTo`. */
const isBareJump = ({ links, skipTo, isLogged, severity, disruption }: Rule): boolean =>
  skipTo !== -1 &&
  !isLogged &&
  severity === null &&
  disruption.kind === 'pass' &&
  links.length === 1 &&
  links[0]!.effects.length === 0 &&
  !links[0]!.isCapturing;

/** Matching leaves no trace but in TX. */
const isQuiet = (rule: Rule): boolean =>
  !rule.isLogged &&
  rule.severity === null &&
  rule.skipTo === -1 &&
  rule.disruption.kind === 'pass' &&
  rule.links.every((link) => !link.isCapturing);

const isNamedTx = ({ variable, slot }: Target): boolean => variable.kind === 'tx' && slot >= firstNamedSlot;

/** The link's answer depends on named TX variables alone. */
const readsOnlyNamedTx = ({ targets, exclusions, operator }: Link): boolean => {
  if (exclusions.length > 0 || !targets.every(isNamedTx)) return false;
  if (operator === null || operator.macro !== null) return operator?.macro?.readsOnlyTx ?? true;
  return operator.isPure;
};

const readsOf = ({ targets, operator }: Link): number[] => [
  ...targets.map(({ slot }) => slot),
  ...(operator?.macro?.slots ?? []),
];

/** What a growing set of rules may read and write in TX. */
const createChanges = (program: Program) => {
  const read = new Set<number>();
  const written = new Set<number>();
  const prefixes: string[] = [];
  let readsEverything = false;
  const mayWrite = (slot: number): boolean =>
    slot < firstNamedSlot || written.has(slot) || prefixes.some((prefix) => program.txNames[slot]!.startsWith(prefix));

  return {
    mayWrite,
    add(rule: Rule): void {
      for (const link of rule.links) {
        for (const slot of readsOf(link)) if (slot >= 0) read.add(slot);
        // A TX target without a name looks at all of them.
        readsEverything ||= link.targets.some(({ variable, slot }) => variable.kind === 'tx' && slot === -1);
        for (const { footprint } of link.effects) {
          readsEverything ||= footprint === undefined;
          for (const slot of footprint?.reads ?? []) read.add(slot);
          for (const slot of footprint?.writes ?? []) written.add(slot);
          if (footprint?.writesPrefix != null) prefixes.push(footprint.writesPrefix);
        }
      }
      const texts = [
        rule.message,
        rule.logData,
        ...rule.tags,
        rule.disruption.kind === 'redirect' ? rule.disruption.url : null,
      ];
      for (const text of texts) for (const slot of text?.slots ?? []) read.add(slot);
    },
    /** Whether a rule may run before all rules added so far, with the same outcome for it and for them. */
    allowFolding(rule: Rule): boolean {
      return rule.links.every((link) => {
        if (!readsOnlyNamedTx(link)) return false;
        const footprints = link.effects.map(({ footprint }) => footprint);
        if (
          footprints.some(
            (footprint) => footprint === undefined || footprint.removes !== null || footprint.writesPrefix !== null,
          )
        )
          return false;
        const writes = footprints.flatMap((footprint) => footprint!.writes);
        const reads = [...readsOf(link), ...footprints.flatMap((footprint) => footprint!.reads)];
        const isPure = footprints.every((footprint) => footprint!.readsOnlyTx);
        const isSeen = readsEverything && writes.length > 0;
        return isPure && !isSeen && !reads.some(mayWrite) && !writes.some((slot) => read.has(slot) || mayWrite(slot));
      });
    },
  };
};
