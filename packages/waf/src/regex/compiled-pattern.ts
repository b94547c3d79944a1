import type { PatternGate } from './pattern-gate.ts';
import type { WorkBudget } from './work-budget.ts';

/** A pattern ready to match byte ranges. It holds mutable automata: use it from one thread. */
export type CompiledPattern = {
  readonly source: string;
  /** True when automata decide it alone; false when they only filter for the backtracking matcher. */
  readonly isRegular: boolean;
  /** Number of capturing groups, the whole match not counted. */
  readonly captureCount: number;
  /** What every match contains. */
  readonly gate: PatternGate;
  /** Why a backtracking engine would be superlinear on the pattern, or null; found by trying, when first asked for. */
  readonly superlinear: string | null;
  /** Whether the range contains a match. False with `budget.exceeded` when the budget ran out. */
  test(buf: Uint8Array, start: number, end: number, budget: WorkBudget): boolean;
  /**
   * The leftmost match by Perl's priorities: pairs of absolute offsets for the match and each group, -1 for unset. Null when there
   * is none or, with `budget.exceeded`, when the budget ran out.
   */
  exec(buf: Uint8Array, start: number, end: number, budget: WorkBudget): Int32Array | null;
  /** As `exec`, but cheaper on patterns with groups: offsets beyond the first pair may be left out. */
  find(buf: Uint8Array, start: number, end: number, budget: WorkBudget): Int32Array | null;
  /** Bytes held by the automata built so far. */
  readonly memory: number;
};
