import type { CompileContext } from '../compile/context.ts';
import type { Effect } from '../model/effect.ts';
import type { ActionNode } from '../seclang/ast.ts';

/** Compiles one ctl option; null (with a diagnostic) when the value is not one of its own. */
export type ControlReader = (value: string, action: ActionNode, context: CompileContext) => Effect | null;
