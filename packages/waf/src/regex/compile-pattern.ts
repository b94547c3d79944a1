import type { PcreFlags, PcreNode } from './ast.ts';
import { isRegularNode } from './automaton-limits.ts';
import { type AutomatonMemory, processMemory } from './automaton-memory.ts';
import { type Backtracker, createBacktracker } from './backtracker.ts';
import { type BytePartition, partitionBytes } from './byte-partition.ts';
import type { CompiledPattern } from './compiled-pattern.ts';
import { countCaptures } from './count-groups.ts';
import { createMatchEndDfa, type MatchEndDfa } from './match-end-dfa.ts';
import { isAnchored } from './node-facts.ts';
import { defaultFlags, parsePcre } from './parse-pcre.ts';
import { deriveGate } from './pattern-gate.ts';
import { createPike, hasTraceableThreads, type Pike } from './pike.ts';
import { compileProgram, type Program } from './program.ts';
import { reverseNode } from './reverse-node.ts';
import { createSearchDfa, type SearchDfa } from './search-dfa.ts';
import { findSuperlinear } from './superlinear.ts';
import type { WorkBudget } from './work-budget.ts';

/** Makes a value when it is first asked for. */
const lazily = <T>(make: () => T): { (): T; made(): T | undefined } => {
  let value: T | undefined;
  const get = (): T => {
    value ??= make();
    return value;
  };
  return Object.assign(get, { made: () => value });
};

const automaton = (root: PcreNode, isCapturing: boolean): [Program, BytePartition] => {
  const program = compileProgram(root, 'automaton', isCapturing);
  return [program, partitionBytes(program)];
};

/**
 * Parses a pattern and derives its gate; automata are built when they are first used. All automata
 * together stay within `memory`, that of the process unless given. Throws PatternError.
 */
export const compilePattern = (
  source: string,
  flags: Partial<PcreFlags> = {},
  memory: AutomatonMemory = processMemory,
): CompiledPattern => {
  const root = parsePcre(source, { ...defaultFlags, ...flags });
  const captureCount = countCaptures(root);
  const slots = (captureCount + 1) * 2;
  const isRegular = isRegularNode(root);
  const startsWithText = isAnchored(root);

  const parts = lazily(() => automaton(root, false));
  const forward = lazily((): SearchDfa => createSearchDfa(...parts(), memory));
  const backward = lazily((): SearchDfa => createSearchDfa(...automaton(reverseNode(root), false), memory));
  const matchEnd = lazily((): MatchEndDfa => createMatchEndDfa(...parts(), memory));
  const pike = lazily((): Pike => createPike(...automaton(root, true), slots));
  const backtracker = lazily((): Backtracker => createBacktracker(compileProgram(root, 'backtracking', true), slots));
  const superlinear = lazily(() => ({ reason: findSuperlinear(root, slots) }));

  // What only the backtracking program can refuse must be refused now, not at the first request.
  if (!isRegular) backtracker();

  /** Tries the starts that the backward automaton leaves possible, from left to right. */
  const backtrack = (buf: Uint8Array, start: number, end: number, budget: WorkBudget): Int32Array | null => {
    const starts: number[] = [];
    if (backward().leftmost(buf, start, end, budget, (at) => starts.push(at)) < 0) return null;
    const captures = new Int32Array(slots);
    backtracker().begin();
    while (starts.length > 0 && !budget.exceeded) {
      if (backtracker().matchAt(buf, start, end, starts.pop()!, captures, budget)) return captures;
    }
    return null;
  };

  const exec = (
    buf: Uint8Array,
    start: number,
    end: number,
    budget: WorkBudget,
    wantsGroups: boolean,
  ): Int32Array | null => {
    if (!isRegular || !hasTraceableThreads(parts()[0])) return backtrack(buf, start, end, budget);
    const at = startsWithText ? start : backward().leftmost(buf, start, end, budget);
    if (at < 0) return null;
    const last = matchEnd().matchEnd(buf, start, end, at, budget);
    if (last < 0) return null;
    if (!wantsGroups || captureCount === 0) return Int32Array.of(at, last);
    const captures = new Int32Array(slots);
    return pike().capture(buf, start, end, at, last, captures, budget) ? captures : null;
  };

  return {
    source,
    isRegular,
    captureCount,
    gate: deriveGate(root),
    get superlinear() {
      return superlinear().reason;
    },
    get memory() {
      return (forward.made()?.bytes ?? 0) + (backward.made()?.bytes ?? 0) + (matchEnd.made()?.bytes ?? 0);
    },
    test: (buf, start, end, budget) =>
      forward().test(buf, start, end, budget) && (isRegular || backtrack(buf, start, end, budget) !== null),
    exec: (buf, start, end, budget) => exec(buf, start, end, budget, true),
    find: (buf, start, end, budget) => exec(buf, start, end, budget, false),
  };
};
