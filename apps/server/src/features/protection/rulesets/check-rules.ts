import type { RulesetCheck } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import type { Diagnostic } from '@sallyport/waf';
import { runInThread } from '../../in-thread.ts';
import { createTurns } from '../../in-turn.ts';
import { createRoom } from '../../room.ts';
import type { CompileJob, CompileOutcome } from './compile-job.ts';
import type { CoreRuleSet } from './core-rule-set.ts';

/** The Core Rule Set takes about a second; whatever takes this long would not load in the guards either. */
const COMPILE_MS = 30_000;
const MAX_HEAP_MB = 768;
/** Looks at rules that may wait for their turn, each with its text; more are refused. Rules that are to be stored always wait. */
const MOST_LOOKS = 8;

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

const toWire = ({ file, line, column, message, token, expected }: Diagnostic, name: string) => ({
  ...{ line, column, message, token, expected },
  file: file === name ? null : file,
});

/**
 * Makes the checks of rule text: it compiles as it will be used, alone or together with the Core Rule Set. `bodyLimit` tells the
 * longest body that any host takes. Both throw a 400 for what can't be tried.
 */
export const createRuleCheck = (findCore: () => CoreRuleSet | undefined, bodyLimit: () => Promise<number>) => {
  const inTurn = createTurns();
  const enter = createRoom(MOST_LOOKS, 'Other rules are being checked; try again in a moment');

  const compile = async (
    name: string,
    content: string,
    mode: 'owasp' | 'custom',
    isWanted = () => true,
  ): Promise<CompileOutcome> => {
    const core = mode === 'owasp' ? findCore() : undefined;
    if (mode === 'owasp' && !core) {
      throw refuse.invalid('mode owasp needs the Core Rule Set, which is not installed (package modsecurity-crs)');
    }
    const job = { name, content, core, bodyLimit: await bodyLimit() };
    return inTurn(async () => (isWanted() ? compileInThread(job) : { ruleCount: null, errors: [], warnings: [] }));
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

    /**
     * Tells what is wrong with it, in the order of reading. Compiles nothing when its turn comes and `isWanted` says that nobody waits any
     * more: who types asks anew with each pause. Throws a 429 when too many are asked at once.
     */
    async tell(
      { name, content, mode }: { name: string; content: string; mode: 'owasp' | 'custom' },
      isWanted: () => boolean,
    ): Promise<RulesetCheck> {
      const { ruleCount, errors, warnings } = await enter(() => compile(name, content, mode, isWanted));
      return {
        rule_count: ruleCount,
        errors: errors.map((error) => toWire(error, name)),
        warnings: warnings.map((warning) => toWire(warning, name)),
      };
    },
  };
};
export type RuleCheck = ReturnType<typeof createRuleCheck>;
