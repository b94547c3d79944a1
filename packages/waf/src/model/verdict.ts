/** A rule that fired and was not `nolog`. Texts are Latin-1: one char is one byte of the request. */
export type RuleMatch = {
  readonly id: number;
  readonly phase: 1 | 2 | 3 | 4 | 5;
  /** `msg` with its macros expanded, bounded; empty when the rule has none. */
  readonly message: string;
  /** `logdata` with its macros expanded, bounded and masked like `snippet`. */
  readonly data: string;
  /** 0 EMERGENCY … 7 DEBUG, or null when the rule names none. */
  readonly severity: number | null;
  readonly tags: readonly string[];
  /** The last variable that matched, e.g. `ARGS:comment`. */
  readonly variable: string;
  /** What matched there, at most 96 chars, non-printing bytes as `\xhh`; values of secret-bearing names are `***`. */
  readonly snippet: string;
  readonly file: string;
  readonly line: number;
  /** True for the rule that decided the verdict. */
  readonly isDecisive: boolean;
};

/** CRS anomaly scores of one direction; index 0 of `byParanoiaLevel` is level 1. */
export type AnomalyScores = {
  readonly total: number;
  readonly threshold: number | null;
  readonly byParanoiaLevel: readonly [number, number, number, number];
};

/** A bound that a request ran into; what lies beyond it was not looked at. */
export type LimitHit =
  | 'work'
  | 'arguments'
  | 'request_body'
  | 'response_body'
  | 'body_depth'
  | 'collection'
  | 'matches'
  | 'persistent_store';

/** What to do with a request or response, and why. */
export type Verdict = {
  /** `pass` also when rules only detect: `wouldBe` then says what was withheld. */
  readonly action: 'pass' | 'block' | 'drop' | 'redirect';
  /** HTTP status to answer with; 200 for `pass`. */
  readonly status: number;
  readonly redirectUrl: string | null;
  /** What the rules asked for; differs from `action` in detection-only mode. */
  readonly wouldBe: 'pass' | 'block' | 'drop' | 'redirect';
  readonly isDetectionOnly: boolean;
  /** The id of the rule that decided, 0 for a rule without id, null when nothing interrupted (or a limit did). */
  readonly ruleId: number | null;
  readonly matches: readonly RuleMatch[];
  readonly scores: { readonly inbound: AnomalyScores; readonly outbound: AnomalyScores };
  readonly limitsHit: readonly LimitHit[];
  readonly workUnits: number;
  /** Milliseconds, when `compile` was given a `clock`; else null. */
  readonly durationMs: number | null;
};
