import type { PcreFlags } from './ast.ts';
import { type Backtracker, createBacktracker } from './backtracker.ts';
import { partitionBytes } from './byte-partition.ts';
import type { CompiledPattern } from './compiled-pattern.ts';
import { countCaptures, defaultFlags, parsePcre } from './parse-pcre.ts';
import { deriveGate } from './pattern-gate.ts';
import { createPike, maxPikeLoopDepth, type Pike } from './pike.ts';
import { compileProgram, isRegularNode, reverseNode } from './program.ts';
import { createSearchDfa, type SearchDfa } from './search-dfa.ts';
import type { WorkBudget } from './work-budget.ts';

/** Parses a pattern and derives its gate; automata are built when they are first used. Throws PatternError. */
export const compilePattern = (source: string, flags: Partial<PcreFlags> = {}): CompiledPattern => {
  const root = parsePcre(source, { ...defaultFlags, ...flags });
  const captureCount = countCaptures(root);
  const slots = (captureCount + 1) * 2;
  const isRegular = isRegularNode(root);

  let forward: SearchDfa | undefined;
  let backward: SearchDfa | undefined;
  let matcher: Pike | Backtracker | undefined;

  const searchForward = (): SearchDfa => {
    if (forward === undefined) {
      const program = compileProgram(root, 'automaton', false);
      forward = createSearchDfa(program, partitionBytes(program));
    }
    return forward;
  };

  const searchBackward = (): SearchDfa => {
    if (backward === undefined) {
      const program = compileProgram(reverseNode(root), 'automaton', false);
      backward = createSearchDfa(program, partitionBytes(program));
    }
    return backward;
  };

  const createMatcher = (): Pike | Backtracker => {
    if (isRegular) {
      const program = compileProgram(root, 'automaton', true);
      if (program.loopDepth <= maxPikeLoopDepth) return createPike(program, partitionBytes(program), slots);
    }
    return createBacktracker(compileProgram(root, 'backtracking', true), slots);
  };

  // What only the backtracking program can refuse must be refused now, not at the first request.
  if (!isRegular) matcher = createMatcher();

  const matchFrom = (
    buf: Uint8Array,
    start: number,
    end: number,
    at: number,
    captures: Int32Array,
    budget: WorkBudget,
  ): boolean => {
    matcher ??= createMatcher();
    return matcher.matchAt(buf, start, end, at, captures, budget);
  };

  /** Tries the starts that the backward automaton leaves possible, from left to right. */
  const confirm = (buf: Uint8Array, start: number, end: number, budget: WorkBudget): Int32Array | null => {
    const starts: number[] = [];
    if (searchBackward().leftmost(buf, start, end, budget, (at) => starts.push(at)) < 0) return null;
    const captures = new Int32Array(slots);
    if (matcher !== undefined && 'begin' in matcher) matcher.begin();
    while (starts.length > 0 && !budget.exceeded) {
      if (matchFrom(buf, start, end, starts.pop()!, captures, budget)) return captures;
    }
    return null;
  };

  return {
    source,
    isRegular,
    captureCount,
    gate: deriveGate(root),
    get memory() {
      return (forward?.bytes ?? 0) + (backward?.bytes ?? 0);
    },

    test(buf, start, end, budget) {
      if (!searchForward().test(buf, start, end, budget)) return false;
      return isRegular || confirm(buf, start, end, budget) !== null;
    },

    exec(buf, start, end, budget) {
      if (!isRegular) return confirm(buf, start, end, budget);
      const at = searchBackward().leftmost(buf, start, end, budget);
      if (at < 0) return null;
      const captures = new Int32Array(slots);
      if (matcher !== undefined && 'begin' in matcher) matcher.begin();
      return matchFrom(buf, start, end, at, captures, budget) ? captures : null;
    },
  };
};
