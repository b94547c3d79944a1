import { latin1 } from '../bytes/bytes.ts';
import { compileProgram } from '../engine/compile.ts';
import { createRuleSet } from '../engine/create-rule-set.ts';
import { isSecretName, maskPairs, printable } from '../engine/run/secret-names.ts';
import type { Trace } from '../engine/run/trace.ts';
import type { Limits } from '../model/limits.ts';
import type { Link, Rule } from '../model/program.ts';
import type { WafRequest, WafResponse } from '../model/request.ts';
import type { CompileEnv, RuleSource } from '../model/rule-set.ts';
import type { Verdict } from '../model/verdict.ts';
import type { Diagnostic } from '../seclang/diagnostic.ts';

/** One value that one link of a rule was asked about. */
export type ExplainedCheck = {
  readonly ruleId: number;
  readonly phase: number;
  readonly file: string;
  readonly line: number;
  /** 0 is the first rule of a chain. */
  readonly link: number;
  readonly variable: string;
  /** The steps the value went through, in order. */
  readonly transformations: readonly string[];
  /** The value behind them, bounded and masked. */
  readonly value: string;
  /** As written, e.g. `!@rx ^GET$`. */
  readonly operator: string;
  readonly isMatch: boolean;
};

/** Why a request got its verdict, check by check. */
export type Explanation = {
  readonly verdict: Verdict;
  /** In the order in which it happened. */
  readonly checks: readonly ExplainedCheck[];
  /** Rules of which every link matched, also those that are not logged. */
  readonly fired: readonly number[];
  readonly skipped: readonly {
    readonly ruleId: number;
    readonly reason: 'removed' | 'jumped';
    readonly by: number | null;
  }[];
  /** True when there were more checks than are kept. */
  readonly isCut: boolean;
};

const maxChecks = 200_000;
const maxValue = 160;
const maxOperator = 200;

/**
 * Judges a request and tells how: every rule with every value it looked at. It evaluates rule by rule, without the shortcuts of
 * `inspect`; the verdict is the same. `explanation` is null when the rules do not compile.
 */
export const explain = (
  sources: readonly RuleSource[],
  exchange: { readonly request: WafRequest; readonly response?: WafResponse },
  env: CompileEnv = {},
  limits: Limits = {},
): { readonly explanation: Explanation | null; readonly diagnostics: readonly Diagnostic[] } => {
  const { program, diagnostics } = compileProgram(sources, env);
  if (program === null) return { explanation: null, diagnostics };
  const checks: ExplainedCheck[] = [];
  const fired: number[] = [];
  const skipped: Explanation['skipped'][number][] = [];
  let isCut = false;
  const trace: Trace = {
    visited: () => undefined,
    checked(rule, link, name, value, isMatch) {
      if (checks.length >= maxChecks) isCut = true;
      else checks.push(explainCheck(rule, link, name, latin1(value.buf, value.start, value.end), isMatch));
    },
    fired: (rule) => fired.push(rule.id),
    skipped: (rule, reason, by) => skipped.push({ ruleId: rule.id, reason, by: by?.id ?? null }),
  };
  const transaction = createRuleSet(program, env, { isNaive: true, trace }).begin(exchange.request, limits);
  const verdict = exchange.response === undefined ? transaction.end() : transaction.inspectResponse(exchange.response);
  return { explanation: { verdict, checks, fired, skipped, isCut }, diagnostics };
};

const explainCheck = (rule: Rule, link: Link, variable: string, value: string, isMatch: boolean): ExplainedCheck => {
  const { name, argument, isNegated } = link.operator!;
  return {
    ruleId: rule.id,
    phase: rule.phase,
    file: link.place.file,
    line: link.place.line,
    link: rule.links.indexOf(link),
    variable: printable(variable, maxValue),
    transformations: link.transformations.map((step) => step.name),
    value: isSecretName(variable) ? '***' : printable(maskPairs(value.slice(0, 4_096)), maxValue),
    operator: `${isNegated ? '!' : ''}@${name} ${printable(argument, maxOperator)}`.trimEnd(),
    isMatch,
  };
};
