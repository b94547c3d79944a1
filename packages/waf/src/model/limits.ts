/** What one request may cost, and what happens past it. Every field has a default (`defaultLimits`). */
export type Limits = {
  /** `block`: refuse as the rules say. `detect`: report what would have happened, never refuse. `rules`: as SecRuleEngine says. */
  readonly mode?: 'block' | 'detect' | 'rules';
  /** Work units per transaction, about one per byte that a pattern steps over. */
  readonly workUnits?: number;
  /**
   * What a long body brings along instead, for each of its bytes, when that is more: an uploaded picture in JSON is work in proportion
   * to its size, and so is what an attacker gains by sending as much.
   */
  readonly workUnitsPerBodyByte?: number;
  /** What a transaction gets whose work units are spent: refused with 403 (`block`) or passed on unjudged (`pass`). */
  readonly whenWorkSpent?: 'block' | 'pass';
  /** Most arguments that are looked at; the rest sets REQBODY_ERROR or URLENCODED_ERROR. Overrides SecArgumentsLimit. */
  readonly maxArguments?: number;
  /** Most bytes of a request body that are looked at. Overrides SecRequestBodyLimit. */
  readonly maxBodyBytes?: number;
  /** Deepest nesting of JSON and XML bodies. */
  readonly maxDepth?: number;
};

/** The defaults, in force where neither the caller nor the rules say otherwise. */
export const defaultLimits = {
  mode: 'rules',
  workUnits: 60_000_000,
  workUnitsPerBodyByte: 60,
  whenWorkSpent: 'block',
  maxArguments: 1_000,
  maxBodyBytes: 13_107_200,
  maxDepth: 500,
} as const satisfies Required<Limits>;
