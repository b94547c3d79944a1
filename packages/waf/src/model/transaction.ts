import type { Arena } from '../bytes/arena.ts';
import type { OperatorContext, OperatorInstance } from '../operators/operator.ts';
import type { CompiledPattern, WorkBudget } from '../regex/index.ts';
import type { BodyFacts } from './body-facts.ts';
import type { Limits } from './limits.ts';
import type { Exclusion } from './name-selection.ts';
import type { WafRequest, WafResponse } from './request.ts';
import type { Settings } from './settings.ts';
import type { Entry } from './source.ts';
import type { LimitHit } from './verdict.ts';

export type Phase = 1 | 2 | 3 | 4 | 5;
export type BodyProcessor = 'URLENCODED' | 'MULTIPART' | 'XML' | 'JSON' | '';
export type TxValue = string | number | undefined;

/** What can tell afterwards what it captured. */
export type Finder = CompiledPattern | OperatorInstance;

type Text = { expand(tx: Transaction): string };

/** What a rule says of itself. */
export type RuleFacts = {
  readonly id: number;
  readonly revision: string;
  readonly version: string;
  readonly severity: number | null;
  readonly message: Text | null;
  readonly logData: Text | null;
};

/** What stopped the transaction: a disruptive action, or a limit (then there is no rule). */
export type Interruption = {
  readonly kind: 'block' | 'drop' | 'redirect';
  readonly status: number;
  readonly url: string | null;
  readonly rule: RuleFacts | null;
};

/** One request and its response as variables read them, operators look at them and actions change them. */
export interface Transaction {
  readonly settings: Settings;
  readonly request: WafRequest;
  readonly response: WafResponse | null;
  readonly limits: Required<Limits>;
  readonly budget: WorkBudget;
  /** Memory for decoded values. */
  readonly arena: Arena;
  readonly limitsHit: Set<LimitHit>;

  /** The rule whose turn it is. */
  readonly rule: RuleFacts | null;
  readonly matchedName: string;
  readonly matchedValue: string;
  readonly matchedVars: readonly (readonly [name: string, value: string])[];
  readonly highestSeverity: number;
  interruption: Interruption | null;
  readonly isWorkSpent: boolean;

  engineMode: 'on' | 'off' | 'detection-only';
  isRequestBodyAccessed: boolean;
  isResponseBodyAccessed: boolean;
  isRequestBodyForced: boolean;
  bodyProcessor: BodyProcessor;
  requestBodyLimit: number;
  readonly maxBodyBytes: number;
  readonly maskedNames: Set<string>;
  readonly environment: Map<string, string>;
  readonly geo: Readonly<Record<string, string>>;

  body: BodyFacts;
  argsCombinedSize: number;
  urlencodedErrors: number;
  inboundDataError: number;
  outboundDataError: number;

  /** Adds a value that rules may look at; bytes [start, end) must stay as they are. */
  addEntry(source: number, name: string, key: string, buf: Uint8Array, start: number, end: number): void;
  entriesOf(source: number): readonly Entry[];
  /** The values of a source under one lower-case name. */
  entriesNamed(source: number, key: string): readonly Entry[];

  /** A TX variable by its slot. */
  slotValue(slot: number): TxValue;
  /** Sets (or with undefined unsets) a TX variable by its slot. */
  setSlot(slot: number, value: TxValue): void;
  readTx(key: string): TxValue;
  /** Sets (or with undefined unsets) a TX variable by its lower-case name. */
  writeTx(key: string, value: TxValue): void;

  storeCapture(index: number, buf: Uint8Array, start: number, end: number): void;
  /** Replaces TX.0–9 by the groups of a match. */
  storeCaptures(buf: Uint8Array, groups: Int32Array): void;
  /** A finder has matched this range and its rule captures. Bytes that are not stable are copied. */
  captureLater(finder: Finder, buf: Uint8Array, start: number, end: number, isStable: boolean): void;
  operatorContext(isCapturing: boolean): OperatorContext;

  readonly collections: { keyOf(collection: string): string | undefined };
  openCollection(collection: string, key: string): void;
  persistentValue(collection: string, key: string): string | undefined;
  writePersistent(collection: string, key: string, value: string | undefined): void;
  expirePersistent(collection: string, key: string, seconds: number): void;

  removeRules(indexes: readonly number[]): void;
  removeTargets(indexes: readonly number[], exclusions: readonly Exclusion[]): void;
  /** Milliseconds since the transaction began, or null without a clock. */
  elapsedMs(): number | null;
}
