import { type Arena, createArena } from '../../bytes/arena.ts';
import type { BodyFacts } from '../../model/body-facts.ts';
import { noBodyFacts } from '../../model/body-facts.ts';
import type { CollectionStore } from '../../model/collection-store.ts';
import type { Limits } from '../../model/limits.ts';
import type { Exclusion } from '../../model/name-selection.ts';
import type { Program, Rule } from '../../model/program.ts';
import type { WafRequest, WafResponse } from '../../model/request.ts';
import type { Settings } from '../../model/settings.ts';
import { type Entry, sourceCount } from '../../model/source.ts';
import type { BodyProcessor, Finder, Interruption, Phase, Transaction, TxValue } from '../../model/transaction.ts';
import type { LimitHit, RuleMatch } from '../../model/verdict.ts';
import type { OperatorContext } from '../../operators/operator.ts';
import type { WorkBudget } from '../../regex/index.ts';
import { type OpenCollections, openCollections } from './open-collections.ts';
import type { ScanState } from './scan-state.ts';
import { TxVariables } from './tx-variables.ts';

const noEntries: readonly Entry[] = [];

/** All state of one request and its response. Only data and its accessors: what runs when is in run-phase.ts. */
export class RunningTransaction implements Transaction {
  readonly program: Program;
  readonly settings: Settings;
  readonly request: WafRequest;
  readonly limits: Required<Limits>;
  readonly budget: WorkBudget;
  /** Work units it may use. */
  readonly workLimit: number;
  readonly arena: Arena = createArena();
  response: WafResponse | null = null;

  readonly entries: Entry[] = [];
  readonly #bySource: (Entry[] | undefined)[] = new Array<Entry[] | undefined>(sourceCount).fill(undefined);

  readonly #byKey: (Map<string, Entry[]> | undefined)[] = new Array<Map<string, Entry[]> | undefined>(sourceCount).fill(
    undefined,
  );

  /** The collection TX. */
  readonly variables: TxVariables;
  #collections: OpenCollections | null = null;
  readonly #store: CollectionStore;
  readonly environment = new Map<string, string>();
  geo: Record<string, string> = {};

  phase: Phase = 1;
  rule: Rule | null = null;
  matchedName = '';
  matchedValue = '';
  matchedVars: (readonly [name: string, value: string])[] = [];
  highestSeverity = 255;
  readonly matches: RuleMatch[] = [];
  interruption: Interruption | null = null;
  /** `allow`: which phases are left out from now on. */
  allowed: 'none' | 'phase' | 'request' | 'transaction' = 'none';
  readonly limitsHit = new Set<LimitHit>();
  readonly maskedNames = new Set<string>();

  engineMode: 'on' | 'off' | 'detection-only';
  isRequestBodyAccessed: boolean;
  isResponseBodyAccessed: boolean;
  isRequestBodyForced = false;
  bodyProcessor: BodyProcessor = '';
  requestBodyLimit: number;
  readonly maxBodyBytes: number;

  body: BodyFacts = noBodyFacts;
  argsCombinedSize = 0;
  argumentCount = 0;
  urlencodedErrors = 0;
  inboundDataError = 0;
  outboundDataError = 0;

  #removedRules: Uint8Array | null = null;
  #removedTargets: Map<number, Exclusion[]> | null = null;
  /** Set once the budget is spent; unlike `budget.exceeded` it stays set while phase 5 runs on its own allowance. */
  isWorkSpent = false;
  /** Work units used when the verdict was last drawn up. */
  workSpent = 0;
  /** Whether the rules that were folded at load count as run. */
  isFolded = false;
  /** What the scanning runner knows of this transaction. */
  scan: ScanState | null = null;
  readonly #clock: (() => number) | null;
  readonly #startedAt: number;
  readonly #context: { wantsCapture: boolean } & OperatorContext;

  constructor(
    program: Program,
    request: WafRequest,
    limits: Required<Limits>,
    store: CollectionStore,
    clock: (() => number) | null,
  ) {
    this.#clock = clock;
    this.#startedAt = clock?.() ?? 0;
    const { settings } = program;
    this.program = program;
    this.settings = settings;
    this.request = request;
    this.limits = limits;
    const bodyBytes = Math.min(request.body?.length ?? 0, limits.maxBodyBytes);
    this.workLimit = Math.max(limits.workUnits, bodyBytes * limits.workUnitsPerBodyByte);
    this.budget = { units: this.workLimit, exceeded: false };
    this.variables = new TxVariables(
      program,
      () => this.operatorContext(true),
      () => this.limitsHit.add('collection'),
    );
    this.#store = store;
    this.engineMode = limits.mode === 'rules' ? settings.engineMode : limits.mode === 'block' ? 'on' : 'detection-only';
    this.isRequestBodyAccessed = settings.isRequestBodyAccessed;
    this.isResponseBodyAccessed = settings.isResponseBodyAccessed;
    this.maxBodyBytes = limits.maxBodyBytes;
    this.requestBodyLimit = Math.min(settings.requestBodyLimit, limits.maxBodyBytes);
    this.#context = {
      wantsCapture: false,
      budget: this.budget,
      capture: (index, buf, start, end) => this.storeCapture(index, buf, start, end),
      geo: (result) => {
        this.geo = result ?? {};
      },
    };
  }

  addEntry(source: number, name: string, key: string, buf: Uint8Array, start: number, end: number): void {
    const entry: Entry = { index: this.entries.length, source, name, key, buf, start, end };
    this.entries.push(entry);
    const list = this.#bySource[source];
    if (list === undefined) this.#bySource[source] = [entry];
    else list.push(entry);
    this.#byKey[source] = undefined;
  }

  entriesOf(source: number): readonly Entry[] {
    return this.#bySource[source] ?? noEntries;
  }

  /** The values of a source under one lower-case name. */
  entriesNamed(source: number, key: string): readonly Entry[] {
    const list = this.#bySource[source];
    if (list === undefined) return noEntries;
    let names = this.#byKey[source];
    if (names === undefined) {
      names = new Map();
      for (const entry of list) {
        const same = names.get(entry.key);
        if (same === undefined) names.set(entry.key, [entry]);
        else same.push(entry);
      }
      this.#byKey[source] = names;
    }
    return names.get(key) ?? noEntries;
  }

  /** Starts with TX as rules folded at load have left it. */
  beginFolded(values: readonly TxValue[]): void {
    this.isFolded = true;
    this.variables.begin(values);
  }

  slotValue(slot: number): TxValue {
    return this.variables.slotValue(slot);
  }

  setSlot(slot: number, value: TxValue): void {
    this.variables.setSlot(slot, value);
  }

  readTx(key: string): TxValue {
    return this.variables.read(key);
  }

  writeTx(key: string, value: TxValue): void {
    this.variables.write(key, value);
  }

  storeCapture(index: number, buf: Uint8Array, start: number, end: number): void {
    this.variables.storeCapture(index, buf, start, end);
  }

  storeCaptures(buf: Uint8Array, groups: Int32Array): void {
    this.variables.storeCaptures(buf, groups);
  }

  /** `text`: the range as text, where that is known. */
  captureLater(
    finder: Finder,
    buf: Uint8Array,
    start: number,
    end: number,
    isStable: boolean,
    text: string | null = null,
  ): void {
    this.variables.captureLater(finder, buf, start, end, isStable, text);
  }

  /** Runs `read` while macros see `mask` in place of the matched value and of what was captured from it. */
  whileMasked<T>(mask: string, read: () => T): T {
    const { matchedValue } = this;
    this.matchedValue = mask;
    const result = this.variables.whileMasked(mask, read);
    this.matchedValue = matchedValue;
    return result;
  }

  operatorContext(isCapturing: boolean): OperatorContext {
    this.#context.wantsCapture = isCapturing;
    return this.#context;
  }

  get collections(): OpenCollections {
    this.#collections ??= openCollections(
      this.#store,
      this.request.now,
      this.settings.collectionTimeoutSeconds * 1_000,
    );
    return this.#collections;
  }

  openCollection(collection: string, key: string): void {
    this.collections.open(collection, key);
  }

  persistentValue(collection: string, key: string): string | undefined {
    return this.collections.read(collection, key);
  }

  writePersistent(collection: string, key: string, value: string | undefined): void {
    if (!this.collections.write(collection, key, value)) this.limitsHit.add('persistent_store');
  }

  expirePersistent(collection: string, key: string, seconds: number): void {
    this.collections.expire(collection, key, seconds);
  }

  removeRules(indexes: readonly number[]): void {
    this.#removedRules ??= new Uint8Array(this.program.rules.length);
    for (const index of indexes) this.#removedRules[index] = 1;
  }

  isRemoved(rule: Rule): boolean {
    return this.#removedRules !== null && this.#removedRules[rule.index] === 1;
  }

  removeTargets(indexes: readonly number[], exclusions: readonly Exclusion[]): void {
    this.#removedTargets ??= new Map();
    for (const index of indexes) {
      const list = this.#removedTargets.get(index);
      if (list === undefined) this.#removedTargets.set(index, [...exclusions]);
      else list.push(...exclusions);
    }
  }

  removedTargetsOf(rule: Rule): readonly Exclusion[] | null {
    return this.#removedTargets?.get(rule.index) ?? null;
  }

  /** Milliseconds since the transaction began, or null without a clock. */
  elapsedMs(): number | null {
    return this.#clock === null ? null : this.#clock() - this.#startedAt;
  }
}
