import { Worker } from 'node:worker_threads';
import { refuse } from '@sallyport/store/errors';
import type { CompileJob, CompileOutcome } from './compile-job.ts';
import type { CoreRuleSet } from './core-rule-set.ts';

/** The Core Rule Set takes about a second; whatever takes this long would not load in the guards either. */
const COMPILE_MS = 30_000;
const MAX_HEAP_MB = 768;

/**
 * Compiles in a thread of its own: it takes a second in which nothing else would be answered, and rules that take
 * forever, or all memory, end with the thread.
 */
const compileInThread = (job: CompileJob): Promise<CompileOutcome> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./compile-thread.ts', import.meta.url), {
      workerData: job,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    const timer = setTimeout(() => {
      reject(refuse.invalid(`content takes more than ${COMPILE_MS / 1_000} seconds to compile`));
      void worker.terminate();
    }, COMPILE_MS);
    worker.once('message', resolve);
    worker.once('error', (error: Error & { code?: string }) => {
      const isTooLarge = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      reject(isTooLarge ? refuse.invalid('content takes too much memory to compile') : error);
    });
    worker.once('exit', () => {
      clearTimeout(timer);
      reject(new Error('the compiling thread ended without an answer'));
    });
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
  let last: Promise<unknown> = Promise.resolve();
  /** One thread at a time: each may take hundreds of megabytes. */
  const compileInTurn = (job: CompileJob): Promise<CompileOutcome> => {
    const turn = last.then(() => compileInThread(job));
    last = turn.catch(() => {});
    return turn;
  };

  return async (name: string, content: string, mode: 'owasp' | 'custom'): Promise<number> => {
    const core = mode === 'owasp' ? findCore() : undefined;
    if (mode === 'owasp' && !core) {
      throw refuse.invalid('mode owasp needs the Core Rule Set, which is not installed (package modsecurity-crs)');
    }
    const outcome = await compileInTurn({ name, content, core, bodyLimit: await bodyLimit() });
    if (outcome.ruleCount === null) throw refusalOf(name, outcome);
    return outcome.ruleCount;
  };
};
export type RuleCheck = ReturnType<typeof createRuleCheck>;
