import { maskOf } from '../../bytes/byte-bits.ts';
import type { OperatorContext } from '../../operators/operator.ts';
import { lowercase } from '../../transformations/byte-map.ts';
import type { Transformation } from '../../transformations/transformation.ts';
import type { LiteralSearch } from './literal-search.ts';
import { type NodeSet, type ValueScanner, workFor } from './scan-class.ts';
import type { ScanTest } from './scan-tests.ts';

/** What one step made of the bytes of a walk, and who goes on from there. `isChanged` false: the step left the bytes alone. */
type Branch = {
  readonly step: Transformation;
  readonly isChanged: boolean;
  readonly sets: NodeSet[];
  readonly buf: Uint8Array;
  readonly start: number;
  readonly end: number;
};

const initialScratch = 65_536;
/** Room for more than one output is not worth its memory from here on. */
const largeScratch = 1_048_576;

/** Memory for the outputs of transformations, shared by the scanners of one rule set: they lie in it one behind another. */
export type ScanScratch = { readonly bytes: Uint8Array };

export const createScanScratch = (): ScanScratch => ({ bytes: new Uint8Array(initialScratch) });

/** Finds which tests of a class match a value: gate by byte classes, then literals, then the operator itself. */
export const createValueScanner = (literals: LiteralSearch, shared: ScanScratch): ValueScanner => {
  let scratch = shared.bytes;
  let used = 0;
  /** What sees the bytes of the open walks and is still to be visited. */
  const pending: NodeSet[] = [];
  /** Steps run so far in the walks that are open. */
  const branches: Branch[] = [];
  const hits: number[] = [];
  let context: OperatorContext;

  const runTests = (tests: readonly ScanTest[], buf: Uint8Array, start: number, end: number, known: number): number => {
    let search = known;
    for (let at = 0; at < tests.length; at++) {
      const test = tests[at]!;
      const { gate, operator } = test;
      let isPossible = end - start >= gate.minLength;
      if (isPossible && gate.literals !== null) {
        if (search === -1) {
          context.budget.units -= end - start;
          search = literals.run(buf, start, end);
        }
        isPossible = literals.foundIn[test.index] === search;
      }
      if (isPossible && !gate.isExact) {
        isPossible =
          operator.pattern !== null
            ? operator.pattern.test(buf, start, end, context.budget)
            : operator.instance!.match(buf, start, end, context);
      }
      if (isPossible !== operator.isNegated) hits.push(test.index);
    }
    return search;
  };

  /** Room for `size` bytes at `used`. Ranges handed out before stay valid: they hold the buffer they lie in. */
  const reserve = (size: number): void => {
    if (used + size <= scratch.length) return;
    scratch = new Uint8Array(size > largeScratch ? size : Math.max(size * 2, initialScratch));
    used = 0;
  };

  const branchOf = (step: Transformation, buf: Uint8Array, start: number, end: number, firstBranch: number): Branch => {
    for (let at = firstBranch; at < branches.length; at++) if (branches[at]!.step === step) return branches[at]!;
    context.budget.units -= end - start;
    reserve(step.bound(end - start));
    const at = used;
    const written = step.apply(buf, start, end, scratch, at);
    const isChanged = written >= 0;
    if (isChanged) used = at + written;
    const branch = { step, isChanged, sets: [], buf: scratch, start: at, end: used };
    branches.push(branch);
    return branch;
  };

  /**
   * Runs the tests of all nodes that see these bytes, then goes on with what their steps make of them. `known` is the number of the
   * search whose literals are those of these bytes, or -1.
   */
  const walk = (sets: readonly NodeSet[], buf: Uint8Array, start: number, end: number, known: number): void => {
    const mask = maskOf(buf, start, end);
    const base = pending.length;
    const firstBranch = branches.length;
    const outer = scratch;
    const mark = used;
    let search = known;
    for (const set of sets) pending.push(set);
    while (pending.length > base) {
      const { tests, steps } = workFor(pending.pop()!, mask);
      search = runTests(tests, buf, start, end, search);
      for (let at = 0; at < steps.length; at++) {
        const { step, next } = steps[at]!;
        // Chains differ in their order and share most steps: each step runs once on these bytes.
        const branch = branchOf(step, buf, start, end, firstBranch);
        if (branch.isChanged) branch.sets.push(next);
        else pending.push(next);
      }
    }
    // Changed bytes had to wait for all that see these: a walk of its own searches literals anew. In another case the
    // literals are the same, as long as nothing else has been searched.
    for (let at = firstBranch; search !== -1 && at < branches.length; at++) {
      const branch = branches[at]!;
      if (branch.step !== lowercase || !branch.isChanged) continue;
      const last = branches.pop()!;
      if (last !== branch) branches[at] = last;
      walk(branch.sets, branch.buf, branch.start, branch.end, search);
      break;
    }
    while (branches.length > firstBranch) {
      const branch = branches.pop()!;
      if (branch.isChanged) walk(branch.sets, branch.buf, branch.start, branch.end, -1);
    }
    scratch = outer;
    used = mark;
  };

  return {
    scan(scanClass, buf, start, end, tx) {
      hits.length = 0;
      context = tx.operatorContext(false);
      context.budget.units -= end - start + 32;
      walk([scanClass.root], buf, start, end, -1);
      return hits;
    },
  };
};
