import { compileExclusions } from '../../actions/ctl-rules.ts';
import { createRuleDirectory } from '../../compile/rule-directory.ts';
import { createTxNames } from '../../compile/tx-names.ts';
import type { Exclusion, Program } from '../../model/program.ts';
import type { RequestExclusion } from '../../model/request.ts';
import { defaultSettings } from '../../model/settings.ts';
import { collectDiagnostics, type Diagnostic } from '../../seclang/diagnostic.ts';
import type { Transaction } from './transaction.ts';

const maxRemembered = 1_024;
const nowhere = { file: '', line: 1, column: 1 };

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
    apply(tx: Transaction, { ruleId, target }: RequestExclusion): void {
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

/** Parses a target such as `ARGS:comment`; throws RangeError with the reason when it is none. */
export const parseTarget = (target: string): Exclusion[] => {
  const found: Diagnostic[] = [];
  const diagnostics = collectDiagnostics(found);
  const context = {
    diagnostics,
    txNames: createTxNames(),
    env: {},
    settings: defaultSettings('modsecurity2'),
    directory: createRuleDirectory(),
  };
  const exclusions = compileExclusions(target, { valuePlace: nowhere }, context);
  const [problem] = found;
  if (problem !== undefined) throw new RangeError(`"${target}" is not a target: ${problem.message}`);
  return exclusions;
};
