import type { Disruption, Effect, Macro, Phase } from '../model/program.ts';
import type { ActionNode } from '../seclang/ast.ts';
import type { Place } from '../seclang/diagnostic.ts';
import type { Transformation } from '../transformations/transformation.ts';
import type { CompileContext } from './context.ts';

/** What actions may ask for before the phase's default action is known. */
export type WantedDisruption = Disruption | { readonly kind: 'block' };

/** A rule while its actions are being read. */
export type RuleParts = {
  readonly id: number;
  readonly phase: Phase;
  readonly place: Place;
  disruption: WantedDisruption;
  status: number | null;
  message: Macro | null;
  /** As written, for SecRuleRemoveByMsg. */
  messageText: string;
  logData: Macro | null;
  severity: number | null;
  tags: Macro[];
  tagTexts: string[];
  version: string;
  revision: string;
  maturity: number;
  accuracy: number;
  isLogged: boolean;
  isAuditLogged: boolean;
  skip: { readonly count: number } | { readonly marker: string; readonly place: Place } | null;
};

/** A link while its actions are being read. */
export type LinkParts = {
  readonly isHead: boolean;
  isChained: boolean;
  isMultiMatch: boolean;
  isCapturing: boolean;
  transformations: Transformation[];
  effects: Effect[];
};

/** Reads one action into the rule or link it stands on; mistakes go to the diagnostics. */
export type ActionReader = (action: ActionNode, rule: RuleParts, link: LinkParts, context: CompileContext) => void;

/** The value of an action that needs one; null (with a diagnostic) when it is missing. */
export const requireValue = (action: ActionNode, expected: string, context: CompileContext): string | null => {
  if (action.value !== null && action.value !== '') return action.value;
  context.diagnostics.error(action.place, `The action ${action.name} needs a value`, action.name, expected);
  return null;
};
