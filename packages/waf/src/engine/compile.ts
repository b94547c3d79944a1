import { ruleActions } from '../actions/registry.ts';
import { type CompiledProgram, compileSources } from '../compile/compile-sources.ts';
import type { CompileEnv, CompileResult, RuleSource } from '../model/rule-set.ts';
import { createRuleSet } from './create-rule-set.ts';

/** Compiles SecLang sources with every action; the program is null when any diagnostic is an error. */
export const compileProgram = (sources: readonly RuleSource[], env: CompileEnv): CompiledProgram =>
  compileSources(sources, env, ruleActions);

/**
 * Compiles SecLang sources, read one after the other as one text. Mistakes become diagnostics; it never throws. `ruleSet` is
 * null when any of them is an error, so the caller keeps the rule set that is running.
 */
export const compile = (sources: readonly RuleSource[], env: CompileEnv = {}): CompileResult => {
  const { program, diagnostics } = compileProgram(sources, env);
  return { ruleSet: program === null ? null : createRuleSet(program, env), diagnostics };
};
