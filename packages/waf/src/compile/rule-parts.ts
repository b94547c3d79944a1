import type { Effect } from '../model/effect.ts';
import type { Macro } from '../model/macro.ts';
import type { Disruption } from '../model/program.ts';
import type { Phase } from '../model/transaction.ts';
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
  isLogged: boolean;
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

/** The actions of rules. They stand on the compiler, which gets them handed in. */
export type RuleActions = {
  /** Reads any action by its name; unknown and unsupported ones become errors. */
  readonly read: ActionReader;
  /** Those that decide what happens to the transaction, by name. */
  readonly disruptive: Readonly<Record<string, ActionReader>>;
};
