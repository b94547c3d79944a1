import type { Target } from '../model/program.ts';
import { firstPhaseOf } from '../model/source.ts';
import type { Phase } from '../model/transaction.ts';
import type { TargetNode } from '../seclang/ast.ts';
import type { CompileContext } from './context.ts';

/** The first phase in which a target has values; a count has one always, and what is no part of the request may have some. */
const firstPhase = ({ variable, isCount, sources }: Target): number =>
  isCount || variable.kind !== 'stored' ? 1 : Math.min(...sources.map(firstPhaseOf));

/** Warns of a rule, or a link of a chain, that never matches: all that it looks at comes in a later phase than its own. */
export const warnOfEarlyTargets = (
  nodes: readonly TargetNode[],
  targets: readonly Target[],
  phase: Phase,
  { diagnostics }: Pick<CompileContext, 'diagnostics'>,
): void => {
  const node = nodes.find(({ mode }) => mode !== 'exclude');
  const first = Math.min(...targets.map(firstPhase));
  if (node === undefined || targets.length === 0 || first <= phase) return;
  const what = targets.length === 1 ? node.variable : 'All that this looks at';
  diagnostics.warning(
    node.place,
    `${what} is empty in phase ${phase}, so this never matches`,
    node.source,
    `phase:${first} or a later one`,
  );
};
