import type { RulesetCheck } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import { createTurns, runInThread } from '../../in-thread.ts';
import type { CompileJob, CompileOutcome } from './compile-job.ts';
import type { CoreRuleSet } from './core-rule-set.ts';

/** The Core Rule Set takes about a second; whatever takes this long would not load in the guards either. */
const COMPILE_MS = 30_000;
const MAX_HEAP_MB = 768;

const compileInThread = (job: CompileJob): Promise<CompileOutcome> =>
  runInThread({
    script: new URL('./compile-thread.ts', import.meta.url),
    job,
    limitMs: COMPILE_MS,
    heapMb: MAX_HEAP_MB,
    says: { subject: 'content', verb: 'compile' },
  });

const refusalOf = (name: string, { errors }: CompileOutcome) => {
  const lines = errors.map(({ line, column, message }) => `line ${line}, column ${column}: ${message}`);
  const [first] = errors;
  const elsewhere = first && first.file !== name ? ` (in ${first.file})` : '';
  const details = lines.length > 1 ? { details: lines.join('\n') } : {};
  return refuse.invalid(`content is not valid: ${lines[0] ?? 'it does not compile'}${elsewhere}`, details);
};

/**
 * Makes the checks of rule text: it compiles as it will be used, alone or together with the Core Rule Set. `bodyLimit` tells the
 * longest body that any host takes. Both throw a 400 for what can't be tried.
 */
export const createRuleCheck = (findCore: () => CoreRuleSet | undefined, bodyLimit: () => Promise<number>) => {
  const inTurn = createTurns();

  const compile = async (name: string, content: string, mode: 'owasp' | 'custom'): Promise<CompileOutcome> => {
    const core = mode === 'owasp' ? findCore() : undefined;
    if (mode === 'owasp' && !core) {
      throw refuse.invalid('mode owasp needs the Core Rule Set, which is not installed (package modsecurity-crs)');
    }
    const job = { name, content, core, bodyLimit: await bodyLimit() };
    return inTurn(() => compileInThread(job));
  };

  return {
    /**
     * Resolves to the number of its rules; throws a 400 that gives line, column and reason of the first mistake (all of them in
     * `details`).
     */
    async check(name: string, content: string, mode: 'owasp' | 'custom'): Promise<number> {
      const outcome = await compile(name, content, mode);
      if (outcome.ruleCount === null) throw refusalOf(name, outcome);
      return outcome.ruleCount;
    },

    /** Tells what is wrong with it, in the order of reading. */
    async tell(name: string, content: string, mode: 'owasp' | 'custom'): Promise<RulesetCheck> {
      const { ruleCount, errors } = await compile(name, content, mode);
      return {
        rule_count: ruleCount,
        errors: errors.map(({ file, line, column, message, token, expected }) => ({
          line,
          column,
          message,
          token,
          expected,
          file: file === name ? null : file,
        })),
      };
    },
  };
};
export type RuleCheck = ReturnType<typeof createRuleCheck>;
