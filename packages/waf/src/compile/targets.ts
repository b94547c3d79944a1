import type { Exclusion, NameSelector } from '../model/name-selection.ts';
import type { Target } from '../model/program.ts';
import { sourceId } from '../model/source.ts';
import type { Variable } from '../model/variable.ts';
import { compilePattern } from '../regex/index.ts';
import type { TargetNode } from '../seclang/ast.ts';
import type { Place } from '../seclang/diagnostic.ts';
import { refusedVariables, variableNamed, variableNames } from '../variables/registry.ts';
import { closestName } from './closest-name.ts';
import type { CompileContext } from './context.ts';

/** What targets need of the compiler. */
export type TargetContext = Pick<CompileContext, 'diagnostics' | 'txNames'>;

const xpathSources: ReadonlyMap<string, readonly number[]> = new Map([
  ['/*', [sourceId('xmlText')]],
  ['//@*', [sourceId('xmlAttribute')]],
]);

/** Resolves the variables of a rule into what it looks at and what it leaves out; mistakes go to the diagnostics. */
export const compileTargets = (
  nodes: readonly TargetNode[],
  context: TargetContext,
): { targets: Target[]; exclusions: Exclusion[] } => {
  const targets: Target[] = [];
  const exclusions: Exclusion[] = [];
  for (const node of nodes) {
    const variable = resolveVariable(node, context);
    if (variable === undefined) continue;
    if (node.mode === 'exclude') {
      exclusions.push({ variable, selector: compileSelector(node, context) });
      continue;
    }
    const target = compileTarget(node, variable, context);
    if (target !== null) targets.push(target);
  }
  return { targets, exclusions };
};

const resolveVariable = (node: TargetNode, context: TargetContext): Variable | undefined => {
  const variable = variableNamed(node.variable);
  if (variable !== undefined) return variable;
  const reason = refusedVariables.get(node.variable);
  if (reason !== undefined) {
    context.diagnostics.error(node.place, `The variable ${node.variable} is not supported: ${reason}`, node.source);
  } else {
    const near = closestName(node.variable, variableNames());
    context.diagnostics.error(
      node.place,
      `There is no variable ${node.variable}`,
      node.source,
      near ?? 'a variable of SecLang',
    );
  }
  return undefined;
};

const compileTarget = (node: TargetNode, variable: Variable, context: TargetContext): Target | null => {
  const isCount = node.mode === 'count';
  let selectedSources = variable.kind === 'stored' ? variable.sources : [];
  if (variable.name === 'XML') {
    const path = node.selector?.kind === 'xpath' ? node.selector.path : '/*';
    const chosen = xpathSources.get(path);
    if (chosen === undefined) {
      context.diagnostics.error(
        node.place,
        'Only the XPaths /* (all text) and //@* (all attributes) are supported',
        path,
        '/* or //@*',
      );
      return null;
    }
    selectedSources = chosen;
    return { variable, isCount, selector: null, sources: selectedSources, slot: -1 };
  }
  if (
    node.selector !== null &&
    (variable.kind === 'computed' || (variable.kind === 'stored' && !variable.isCollection))
  ) {
    context.diagnostics.error(
      node.place,
      `${variable.name} is a single value and takes no name`,
      node.source,
      variable.name,
    );
    return null;
  }
  const selector = compileSelector(node, context);
  const slot = variable.kind === 'tx' && selector?.kind === 'literal' ? context.txNames.slotFor(selector.key) : -1;
  return { variable, isCount, selector, sources: selectedSources, slot };
};

const compileSelector = (node: TargetNode, context: TargetContext): NameSelector | null => {
  const { selector } = node;
  if (selector === null || selector.kind === 'xpath') return null;
  if (selector.kind === 'literal') return { kind: 'literal', key: selector.name.toLowerCase() };
  return compileNameRegex(selector.source, node.place, context);
};

/** A regular expression over names: caseless, as in ModSecurity 2. */
export const compileNameRegex = (source: string, place: Place, context: TargetContext): NameSelector | null => {
  try {
    return { kind: 'regex', source, pattern: compilePattern(source, { caseless: true }) };
  } catch (cause) {
    context.diagnostics.error(place, `This name pattern is not valid: ${(cause as Error).message}`, source);
    return null;
  }
};
