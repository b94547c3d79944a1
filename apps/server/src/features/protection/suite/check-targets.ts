import { refuse } from '@sallyport/store/errors';
import type { CompileEnv, CompileResult, RuleSource } from '@sallyport/waf';

/** The engine's compiler (`compile` of @sallyport/waf). */
export type CompileRules = (sources: readonly RuleSource[], env: CompileEnv) => CompileResult;

/** A rule for exclusions to change, so that the engine itself says whether it knows their targets. */
const PROBE = 'SecRule ARGS|REQUEST_COOKIES|REQUEST_HEADERS "@rx x" "id:1,phase:2,pass,nolog"\n';

/**
 * Makes the check that the engine knows the targets of exclusions; throws a 400 with the engine's reason. The engine is
 * loaded when there is something to check.
 */
export const createTargetCheck =
  (load: () => Promise<CompileRules>) =>
  async (targets: readonly string[]): Promise<void> => {
    if (targets.length === 0) return;
    const compile = await load();
    for (const target of new Set(targets)) {
      const text = `${PROBE}SecRuleUpdateTargetById 1 "!${target}"\n`;
      const { diagnostics } = compile([{ path: 'waf_exclusions', text }], { memoBytes: 0 });
      const error = diagnostics.find(({ severity }) => severity === 'error');
      if (error) throw refuse.invalid(`waf_exclusions target ${JSON.stringify(target)} is not valid: ${error.message}`);
    }
  };
