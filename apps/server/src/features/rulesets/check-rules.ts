import { readFileSync, realpathSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import type { CompileEnv, CompileResult, RuleSource } from '@sallyport/waf';
import { refuse } from '../../errors.ts';
import type { CoreRuleSet } from './core-rule-set.ts';

/** The engine's compiler (`compile` of @sallyport/waf). */
export type CompileRules = (sources: readonly RuleSource[], env: CompileEnv) => CompileResult;

export interface RuleCheckDeps {
  compile: CompileRules;
  core: () => CoreRuleSet | undefined;
}

/** What text counts as where nothing but it is judged. */
const BASE: RuleSource = { path: 'base', text: 'SecRuleEngine On\nSecRequestBodyAccess On\n' };

/**
 * Rules that came over the network must not name files: an error message would tell what is in /etc/shadow.
 * Only what lies beside the installed rules may be read.
 */
const readBeside = (core: CoreRuleSet | undefined) => (path: string) => {
  const real = realpathSync(path);
  if (!core || !`${dirname(real)}${sep}`.startsWith(`${realpathSync(core.directory)}${sep}`)) {
    throw new Error('only files of the installed Core Rule Set can be read');
  }
  return readFileSync(real);
};

const sourcesOf = (paths: readonly string[]): RuleSource[] => paths.map((path) => ({ path, text: readFileSync(path) }));

/**
 * Makes the check of rule text: it compiles as it will be used, alone or together with the Core Rule Set, and throws a
 * 400 with line, column and reason of the first mistake (all of them in `details`). Returns the number of its rules.
 */
export const createRuleCheck = ({ compile, core }: RuleCheckDeps) => {
  const count = (sources: readonly RuleSource[], installed: CoreRuleSet | undefined): CompileResult =>
    compile(sources, { readFile: readBeside(installed), memoBytes: 0 });

  return (name: string, content: string, mode: 'owasp' | 'custom'): number => {
    const installed = mode === 'owasp' ? core() : undefined;
    if (mode === 'owasp' && !installed) {
      throw refuse.invalid('mode owasp needs the Core Rule Set, which is not installed (package modsecurity-crs)');
    }
    const before = [BASE, ...sourcesOf(installed?.setup ?? [])];
    const after = sourcesOf(installed?.rules ?? []);
    const text: RuleSource = { path: name, text: Buffer.from(content, 'utf8') };
    const { ruleSet, diagnostics } = count([...before, text, ...after], installed);
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    const [first] = errors;
    if (first || !ruleSet) {
      const where = first ? `line ${first.line}, column ${first.column}: ${first.message}` : 'they do not compile';
      const elsewhere = first && first.file !== name ? ` (in ${first.file})` : '';
      const all = errors.slice(0, 20).map((error) => `line ${error.line}, column ${error.column}: ${error.message}`);
      throw refuse.invalid(
        `content is not valid: ${where}${elsewhere}`,
        all.length > 1 ? { details: all.join('\n') } : {},
      );
    }
    const others = installed ? (count([...before, ...after], installed).ruleSet?.ruleCount ?? 0) : 0;
    return ruleSet.ruleCount - others;
  };
};
export type RuleCheck = ReturnType<typeof createRuleCheck>;
