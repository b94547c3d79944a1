import type { Dialect } from '../seclang/ast.ts';
import type { Diagnostic } from '../seclang/diagnostic.ts';
import type { CollectionStore } from './collection-store.ts';
import type { Limits } from './limits.ts';
import type { WafRequest, WafResponse } from './request.ts';
import type { Verdict } from './verdict.ts';

/** Rule text with the name that diagnostics show. A string is taken as Latin-1: one char is one byte. */
export type RuleSource = { readonly path: string; readonly text: string | Uint8Array };

/** What the engine needs from the world. It does no I/O by itself. */
export type CompileEnv = {
  /** Reads a file that Include, @pmFromFile or @ipMatchFromFile names; throws when it cannot. */
  readonly readFile?: (path: string) => Uint8Array;
  /** Expands an Include pattern to paths, sorted; absent: patterns are read as plain names. */
  readonly glob?: (pattern: string) => readonly string[];
  /** Country data for @geoLookup: address → GEO fields such as `COUNTRY_CODE`, or null when unknown. */
  readonly geo?: (address: string) => Record<string, string> | null;
  /**
   * For @rbl: whether a DNS block list zone lists an address, from what the caller has resolved; undefined when it does not know yet.
   * Absent: @rbl never matches, and a warning says so.
   */
  readonly blockList?: (zone: string, address: string) => boolean | undefined;
  /** Monotonic milliseconds, for `Verdict.durationMs`. */
  readonly clock?: () => number;
  /** Persistent collections; default: a bounded store in memory. */
  readonly store?: CollectionStore;
  /**
   * Whose rules these are. `modsecurity2` (default): of four backslashes in quotes two are left, as Apache reads them, of two in a
   * pattern two and elsewhere one; @rx is dotall without multiline. `modsecurity3`: backslashes stay as written, @rx is multiline as
   * well, and REQUEST_BODY is there for every body.
   */
  readonly dialect?: Dialect;
  /** Most bytes of a body that the caller ever hands over. A SecRequestBodyLimit above it is a mistake. Absent: nothing is known of it. */
  readonly maxBodyBytes?: number;
  /** Bytes that the value memo may hold; 0 turns it off. Default 4 MiB. */
  readonly memoBytes?: number;
};

/** A transaction whose request phases (1, 2) have run. */
export type WafTransaction = {
  readonly requestVerdict: Verdict;
  /** Runs phases 3 and 4, then 5; the answer covers the whole transaction. */
  inspectResponse(response: WafResponse): Verdict;
  /** Runs phase 5 when there will be no response. Idempotent; `inspectResponse` does it by itself. */
  end(): Verdict;
};

/** Compiled rules: immutable, safe to share by every transaction of one thread, cheap to swap. */
export type RuleSet = {
  readonly ruleCount: number;
  /** SecRuleEngine as written; `Limits.mode` overrides it. */
  readonly engineMode: 'on' | 'off' | 'detection-only';
  /** Whether any rule of phases 3–4 exists and SecResponseBodyAccess is on. */
  readonly wantsResponse: { readonly headers: boolean; readonly body: boolean };
  /** Judges a request: phases 1, 2 and 5. Never throws, whatever the bytes. */
  inspect(request: WafRequest, limits?: Limits): Verdict;
  /** Judges a request (phases 1 and 2) and keeps the transaction for its response. Never throws. */
  begin(request: WafRequest, limits?: Limits): WafTransaction;
};

/** `ruleSet` is null as soon as one diagnostic is an error: rules are never skipped. */
export type CompileResult = { readonly ruleSet: RuleSet | null; readonly diagnostics: readonly Diagnostic[] };
