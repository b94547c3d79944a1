import type { Place } from '../seclang/diagnostic.ts';
import type { Transformation } from '../transformations/transformation.ts';
import type { Effect } from './effect.ts';
import type { Macro } from './macro.ts';
import type { Exclusion, NameSelector } from './name-selection.ts';
import type { CompiledOperator } from './operator.ts';
import type { Settings } from './settings.ts';
import type { Phase, Transaction } from './transaction.ts';
import type { Variable } from './variable.ts';

export type Target = {
  readonly variable: Variable;
  readonly isCount: boolean;
  readonly selector: NameSelector | null;
  /** For stored variables: the sources looked at (XML selects among its own). */
  readonly sources: readonly number[];
  /** Slot of a TX variable whose name is known at load, else -1. */
  readonly slot: number;
};

/** One SecRule or SecAction of a chain. */
export type Link = {
  readonly place: Place;
  /** Empty for SecAction, which always matches once. */
  readonly targets: readonly Target[];
  readonly exclusions: readonly Exclusion[];
  /** null for SecAction. */
  readonly operator: CompiledOperator | null;
  readonly transformations: readonly Transformation[];
  readonly isMultiMatch: boolean;
  readonly isCapturing: boolean;
  readonly effects: readonly Effect[];
  /** Says, where it is not null, that the link cannot match the transaction as it stands. */
  readonly cannotMatch: ((tx: Transaction) => boolean) | null;
};

export type Disruption =
  | { readonly kind: 'pass' }
  | { readonly kind: 'deny'; readonly status: number }
  | { readonly kind: 'drop' }
  | { readonly kind: 'redirect'; readonly status: number; readonly url: Macro }
  | { readonly kind: 'allow'; readonly scope: 'transaction' | 'phase' | 'request' };

export type Rule = {
  /** Index among all rules, in file order. */
  readonly index: number;
  readonly id: number;
  readonly phase: Phase;
  readonly place: Place;
  readonly links: readonly Link[];
  readonly disruption: Disruption;
  readonly message: Macro | null;
  readonly logData: Macro | null;
  readonly severity: number | null;
  readonly tags: readonly Macro[];
  readonly version: string;
  readonly revision: string;
  readonly isLogged: boolean;
  /** Rules of the same phase to leave out after a match: a position in `PhaseProgram.rules`, or -1. */
  readonly skipTo: number;
  /** True when every value the head looks at is stored and its operator depends on the value alone: scanned, not evaluated. */
  readonly isScannable: boolean;
  /** Scan group (see groups.ts); 0 is always scanned. */
  readonly group: number;
};

export type PhaseProgram = { readonly rules: readonly Rule[] };

/** A rule set ready to run. Immutable. */
export type Program = {
  readonly settings: Settings;
  readonly rules: readonly Rule[];
  /** Index 1–5. */
  readonly phases: readonly PhaseProgram[];
  readonly groupCount: number;
  readonly txNames: readonly string[];
  /** Slot of a TX name in lower case, or -1. */
  slotOf(key: string): number;
};
