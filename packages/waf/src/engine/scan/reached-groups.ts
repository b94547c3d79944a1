import { defaultLimits } from '../../model/limits.ts';
import type { Program } from '../../model/program.ts';
import { emptyRequest } from '../run/empty-request.ts';
import { createEvaluator } from '../run/evaluate.ts';
import { createMemoryStore } from '../run/memory-store.ts';
import { createNaiveRunner } from '../run/run-phase.ts';
import type { Trace } from '../run/trace.ts';
import { RunningTransaction } from '../run/transaction.ts';

/**
 * Bits of the scan groups that a request without any values gets to: which gates are open by the rules' own settings, such as the
 * paranoia level. Scanning begins with these; a request that gets further makes the engine add the group.
 */
export const reachedGroups = (program: Program): number => {
  let groups = 1;
  const trace: Trace = {
    visited: (rule) => {
      groups |= 1 << rule.group;
    },
    checked: () => undefined,
    fired: () => undefined,
    skipped: () => undefined,
  };
  const tx = new RunningTransaction(
    program,
    emptyRequest,
    { ...defaultLimits, mode: 'detect' },
    createMemoryStore(16),
    null,
  );
  const run = createNaiveRunner(createEvaluator(trace), trace);
  for (const phase of [1, 2, 3, 4, 5] as const) {
    tx.phase = phase;
    tx.allowed = 'none';
    run(tx, phase);
  }
  tx.arena.release();
  return groups;
};
