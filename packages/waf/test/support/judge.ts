import { expect } from 'vitest';
import {
  type CompileEnv,
  compile,
  formatDiagnostic,
  type Limits,
  type RuleSet,
  type Verdict,
} from '../../src/index.ts';
import { type GivenRequest, given } from './given.ts';

const preamble = 'SecRuleEngine On\nSecRequestBodyAccess On\nSecResponseBodyAccess On\n';

/** Rules, switched on, that compile without an error. */
export const rules = (text: string, env: CompileEnv = {}): RuleSet => {
  const { ruleSet, diagnostics } = compile([{ path: 'test.conf', text: preamble + text }], env);
  expect(diagnostics.filter(({ severity }) => severity === 'error').map(formatDiagnostic)).toEqual([]);
  return ruleSet!;
};

export const judge = (text: string, request: GivenRequest = {}, limits?: Limits): Verdict =>
  rules(text).inspect(given.request(request), limits);
export const idsOf = (verdict: Verdict): number[] => verdict.matches.map(({ id }) => id);
/** Ids of the rules that fired, in their order. */
export const fired = (text: string, request: GivenRequest = {}): number[] => idsOf(judge(text, request));
