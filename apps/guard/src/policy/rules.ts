import { globSync, readFileSync, statSync } from 'node:fs';
import type { GuardConfig } from '@sallyport/contract';
import {
  type CompileEnv,
  compile,
  type Diagnostic,
  formatDiagnostic,
  type RuleSet,
  type RuleSource,
} from '@sallyport/waf';

type Sources = GuardConfig['waf']['rule_sources'];

/** Rules that can't be compiled; `diagnostics` says where and why. */
export class InvalidRules extends Error {
  override name = 'InvalidRules';
  readonly diagnostics: readonly string[];
  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error').map(formatDiagnostic);
    super(`the rules can't be compiled: ${errors[0] ?? 'no reason given'}`);
    this.diagnostics = errors.slice(0, 100);
  }
}

/** Differs whenever these sources would compile to something else: their text, or the files they name. */
export const rulesKey = (sources: Sources): string =>
  JSON.stringify(
    sources.map((source) => {
      if (source.kind === 'text') return source;
      const { mtimeMs, size, ino } = statSync(source.path);
      return { path: source.path, mtimeMs, size, ino };
    }),
  );

const read = (source: Sources[number]): RuleSource =>
  source.kind === 'text'
    ? { path: source.path, text: Buffer.from(source.text, 'utf8') }
    : { path: source.path, text: readFileSync(source.path) };

const environment: CompileEnv = {
  readFile: (path) => readFileSync(path),
  glob: (pattern) => globSync(pattern).sort(),
};

/** Compiles the configured rules, which takes about half a second for the Core Rule Set. Throws InvalidRules. */
export const compileRules = (sources: Sources, geo?: CompileEnv['geo']): RuleSet => {
  const { ruleSet, diagnostics } = compile(sources.map(read), geo ? { ...environment, geo } : environment);
  if (!ruleSet) throw new InvalidRules(diagnostics);
  return ruleSet;
};
