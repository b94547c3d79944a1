import type { Exclusion } from '../model/name-selection.ts';
import type { ActionNode } from '../seclang/ast.ts';
import { collectDiagnostics, type Diagnostic } from '../seclang/diagnostic.ts';
import { parseTargets } from '../seclang/targets.ts';
import { compileTargets, type TargetContext } from './targets.ts';
import { createTxNames } from './tx-names.ts';

const nowhere = { file: '', line: 1, column: 1 };

/** The variables of a ctl:ruleRemoveTarget… as exclusions. */
export const compileExclusions = (
  written: string,
  action: Pick<ActionNode, 'valuePlace'>,
  context: TargetContext,
): Exclusion[] => {
  const text = { value: written, placeOf: () => action.valuePlace };
  const nodes = parseTargets(text, context.diagnostics).map((node) => ({ ...node, mode: 'exclude' as const }));
  return compileTargets(nodes, context).exclusions;
};

/** Parses a target such as `ARGS:comment`; throws RangeError with the reason when it is none. */
export const parseTarget = (target: string): Exclusion[] => {
  const found: Diagnostic[] = [];
  const diagnostics = collectDiagnostics(found);
  const context = { diagnostics, txNames: createTxNames() };
  const exclusions = compileExclusions(target, { valuePlace: nowhere }, context);
  const [problem] = found;
  if (problem !== undefined) throw new RangeError(`"${target}" is not a target: ${problem.message}`);
  return exclusions;
};
