import type { CompileContext } from '../compile/context.ts';
import type { ActionNode } from '../seclang/ast.ts';

/** The value of an action that needs one; null (with a diagnostic) when it is missing. */
export const requireValue = (action: ActionNode, expected: string, context: CompileContext): string | null => {
  if (action.value !== null && action.value !== '') return action.value;
  context.diagnostics.error(action.place, `The action ${action.name} needs a value`, action.name, expected);
  return null;
};
