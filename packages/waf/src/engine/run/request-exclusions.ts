import { parseTarget } from '../../compile/exclusions.ts';
import type { Exclusion } from '../../model/name-selection.ts';
import type { Program } from '../../model/program.ts';
import type { RequestExclusion } from '../../model/request.ts';
import type { RunningTransaction } from './transaction.ts';

const maxRemembered = 1_024;

/**
 * Applies exclusions that come with a request; the compiled targets are remembered. A target that is none excludes nothing: a mistake
 * of the caller must neither open a hole nor fail a request.
 */
export const createRequestExclusions = (program: Program) => {
  const everyIndex = program.rules.map(({ index }) => index);
  const indexById = new Map(program.rules.map(({ id, index }) => [id, index]));
  const compiled = new Map<string, Exclusion[]>();
  const exclusionsFor = (target: string): Exclusion[] => {
    let exclusions = compiled.get(target);
    if (exclusions === undefined) {
      exclusions = exclusionsOrNone(target);
      if (compiled.size >= maxRemembered) compiled.clear();
      compiled.set(target, exclusions);
    }
    return exclusions;
  };
  return {
    /** Indexes of the rules that exclusions are about. One that is about all rules is about values of the request: none of these is folded. */
    rulesOf: (exclusions: readonly RequestExclusion[]): number[] =>
      exclusions.flatMap(({ ruleId }) => (ruleId === undefined ? [] : (indexById.get(ruleId) ?? []))),
    apply(tx: RunningTransaction, { ruleId, target }: RequestExclusion): void {
      if (ruleId === undefined) {
        if (target !== undefined) tx.removeTargets(everyIndex, exclusionsFor(target));
        return;
      }
      const index = indexById.get(ruleId);
      if (index === undefined) return;
      if (target === undefined) tx.removeRules([index]);
      else tx.removeTargets([index], exclusionsFor(target));
    },
  };
};

const exclusionsOrNone = (target: string): Exclusion[] => {
  try {
    return parseTarget(target);
  } catch {
    return [];
  }
};
