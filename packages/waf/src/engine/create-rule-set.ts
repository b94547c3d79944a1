import { createKnownNames } from '../bytes/known-names.ts';
import { defaultLimits, type Limits } from '../model/limits.ts';
import type { Program } from '../model/program.ts';
import type { WafRequest, WafResponse } from '../model/request.ts';
import type { CompileEnv, RuleSet, WafTransaction } from '../model/rule-set.ts';
import type { Phase } from '../model/transaction.ts';
import type { Verdict } from '../model/verdict.ts';
import { storeRequestHeaders, storeResponseHeaders } from './read/headers.ts';
import { chooseBodyProcessor, storeQueryArguments, storeRequestBody } from './read/request-body.ts';
import { storeRequestLine } from './read/request-line.ts';
import { storeResponseBody, storeStatusLine } from './read/response-body.ts';
import { createEvaluator } from './run/evaluate.ts';
import { createMemoryStore } from './run/memory-store.ts';
import { createRequestExclusions } from './run/request-exclusions.ts';
import { createNaiveRunner, type PhaseRunner } from './run/run-phase.ts';
import { toVerdict } from './run/to-verdict.ts';
import type { Trace } from './run/trace.ts';
import { RunningTransaction } from './run/transaction.ts';
import { type Folded, foldConstants } from './scan/fold-constants.ts';
import { createScanningRunner } from './scan/scanning-runner.ts';

/** Work that phase 5 may do after a transaction has spent its own: logging must still be possible. */
const defaultMemoBytes = 4 * 1_048_576;
const loggingUnits = 1_000_000;

export type EngineOptions = {
  /** Run every rule on every value, without gates or memo: the reference for tests. */
  readonly isNaive?: boolean;
  readonly trace?: Trace | null;
};

/** Makes a program runnable. The program stays immutable; caches belong to the rule set and are bounded. */
export const createRuleSet = (program: Program, env: CompileEnv, options: EngineOptions = {}): RuleSet => {
  const trace = options.trace ?? null;
  const evaluator = createEvaluator(trace);
  const folded = options.isNaive ? null : foldConstants(program);
  const runner: PhaseRunner =
    folded === null
      ? createNaiveRunner(evaluator, trace)
      : createScanningRunner(program, evaluator, trace, env.memoBytes ?? defaultMemoBytes, folded);
  const store = env.store ?? createMemoryStore();
  const names = createKnownNames();
  const clock = env.clock ?? null;
  const exclusions = createRequestExclusions(program);
  const { settings } = program;
  const ruleLimits: Required<Limits> = {
    ...defaultLimits,
    maxArguments: settings.argumentsLimit,
    maxDepth: settings.jsonDepthLimit,
  };

  const runPhase = (tx: RunningTransaction, phase: Phase): void => {
    tx.phase = phase;
    runner(tx, phase);
    if ((tx.budget.exceeded || tx.budget.units < 0) && !tx.isWorkSpent) {
      tx.isWorkSpent = true;
      tx.limitsHit.add('work');
      if (tx.limits.whenWorkSpent === 'block')
        tx.interruption ??= { kind: 'block', status: 403, url: null, rule: null };
    }
    if (tx.allowed === 'phase') tx.allowed = 'none';
  };

  const mayGoOn = (tx: RunningTransaction): boolean =>
    !tx.isWorkSpent &&
    tx.engineMode !== 'off' &&
    tx.allowed !== 'transaction' &&
    (tx.interruption === null || tx.engineMode !== 'on');

  /**
   * Whether what was folded at load holds for this request. When it excludes a folded rule, or sets itself what folded rules are decided
   * by, it takes the long way.
   */
  const isPlain = ({ exclusions: excluded, settings: set }: WafRequest, { done, decidedBy }: Folded): boolean => {
    if (excluded !== undefined && exclusions.rulesOf(excluded).some((index) => done.has(index))) return false;
    if (set !== undefined) for (const name in set) if (decidedBy.has(program.slotOf(name))) return false;
    return true;
  };

  const runRequest = (request: WafRequest, limits: Limits | undefined): RunningTransaction => {
    const merged = limits === undefined ? ruleLimits : { ...ruleLimits, ...limits };
    const tx = new RunningTransaction(program, request, merged, store, clock);
    if (tx.engineMode === 'off') return tx;
    if (folded !== null && isPlain(request, folded)) tx.beginFolded(folded.slots);
    for (const exclusion of request.exclusions ?? []) exclusions.apply(tx, exclusion);
    if (request.settings !== undefined)
      for (const name in request.settings) tx.variables.pin(name, request.settings[name]!);
    const query = storeRequestLine(tx);
    storeRequestHeaders(tx, names);
    storeQueryArguments(tx, query.start, query.end, names);
    chooseBodyProcessor(tx);
    runPhase(tx, 1);
    if (!mayGoOn(tx) || tx.allowed === 'request') return tx;
    storeRequestBody(tx, names);
    if (mayGoOn(tx)) runPhase(tx, 2);
    return tx;
  };

  const runResponse = (tx: RunningTransaction, response: WafResponse): void => {
    if (tx.allowed === 'request') tx.allowed = 'none';
    if (!mayGoOn(tx)) return;
    tx.response = response;
    storeStatusLine(tx, response);
    storeResponseHeaders(tx, response.headers, names);
    runPhase(tx, 3);
    if (!mayGoOn(tx)) return;
    storeResponseBody(tx, response);
    if (mayGoOn(tx)) runPhase(tx, 4);
  };

  const runLogging = (tx: RunningTransaction): void => {
    tx.workSpent = Math.min(tx.workLimit, tx.workLimit - tx.budget.units);
    if (tx.engineMode === 'off') return;
    if (tx.isWorkSpent) {
      tx.budget.units = loggingUnits;
      tx.budget.exceeded = false;
    }
    tx.phase = 5;
    runner(tx, 5);
    tx.collections.flush();
    evaluator.endOfTransaction();
  };

  const begin = (request: WafRequest, limits?: Limits): WafTransaction => {
    const tx = runRequest(request, limits);
    tx.workSpent = tx.workLimit - Math.max(0, tx.budget.units);
    const requestVerdict = toVerdict(tx);
    let final: Verdict | undefined;
    const finish = (): Verdict => {
      if (final !== undefined) return final;
      runLogging(tx);
      final = toVerdict(tx);
      tx.arena.release();
      return final;
    };
    return {
      requestVerdict,
      inspectResponse(response) {
        if (final === undefined) runResponse(tx, response);
        return finish();
      },
      end: finish,
    };
  };

  const inspect = (request: WafRequest, limits?: Limits): Verdict => {
    const tx = runRequest(request, limits);
    runLogging(tx);
    const verdict = toVerdict(tx);
    tx.arena.release();
    return verdict;
  };

  const hasRules = (phase: Phase): boolean => program.phases[phase]!.rules.length > 0;
  return {
    ruleCount: program.rules.length,
    engineMode: settings.engineMode,
    wantsResponse: { headers: hasRules(3), body: hasRules(4) && settings.isResponseBodyAccessed },
    inspect,
    begin,
  };
};
