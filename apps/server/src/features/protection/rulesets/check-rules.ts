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
 * Makes the check of rule text: it compiles as it will be used, alone or together with the Core Rule Set, and refuses
 * with a 400 that gives line, column and reason of the first mistake (all of them in `details`). `bodyLimit` tells the longest
 * body that any host takes. Resolves to the number of its rules.
 */
export const createRuleCheck = (findCore: () => CoreRuleSet | undefined, bodyLimit: () => Promise<number>) => {
  const inTurn = createTurns();

  return async (name: string, content: string, mode: 'owasp' | 'custom'): Promise<number> => {
    const core = mode === 'owasp' ? findCore() : undefined;
    if (mode === 'owasp' && !core) {
      throw refuse.invalid('mode owasp needs the Core Rule Set, which is not installed (package modsecurity-crs)');
    }
    const job = { name, content, core, bodyLimit: await bodyLimit() };
    const outcome = await inTurn(() => compileInThread(job));
    if (outcome.ruleCount === null) throw refusalOf(name, outcome);
    return outcome.ruleCount;
  };
};
export type RuleCheck = ReturnType<typeof createRuleCheck>;
