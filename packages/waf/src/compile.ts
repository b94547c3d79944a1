import { compileProgram } from './compile/compile.ts';
import { createRuleSet } from './engine/create-rule-set.ts';
import type { CompileEnv, CompileResult, RuleSource } from './ruleset.ts';

/**
 * Compiles SecLang sources, read one after the other as one text. Mistakes become diagnostics; it never throws. `ruleSet` is
 * null when any of them is an error, so the caller keeps the rule set that is running.
 */
export const compile = (sources: readonly RuleSource[], env: CompileEnv = {}): CompileResult => {
  const { program, diagnostics } = compileProgram(sources, env);
  return { ruleSet: program === null ? null : createRuleSet(program, env), diagnostics };
};
