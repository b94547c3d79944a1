import { readFileSync, realpathSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import {
  baselineRules,
  type CompileEnv,
  compile,
  type Diagnostic,
  ownRules,
  type RuleSet,
  type RuleSource,
} from '@sallyport/waf';
import { SETTINGS_RULE_ID } from '../suite/settings-rule.ts';
import type { CompileJob, CompileOutcome } from './compile-job.ts';

/** What text counts as where nothing but it is judged. */
const BASE: RuleSource = { path: 'base', text: 'SecRuleEngine On\nSecRequestBodyAccess On\n' };
/** Rules that are judged by as well, whose ids are taken; without their settings, which do not hold here. */
const TAKEN: RuleSource[] = [
  ...[baselineRules, ownRules].map(({ path, text }) => ({
    path,
    text: String(text).replaceAll(/^Sec(?!Rule ).*\n/gm, ''),
  })),
  { path: 'sallyport/levels', text: `SecAction "id:${SETTINGS_RULE_ID},phase:1,pass,nolog"\n` },
];
/** Of mistakes, and of warnings. */
const MOST_TOLD = 20;

/**
 * Rules that came over the network must not name files: an error message would tell what is in /etc/shadow.
 * Only what lies beside the installed rules may be read.
 */
const readBeside = (directory: string | undefined) => (path: string) => {
  const real = realpathSync(path);
  if (directory === undefined || !`${dirname(real)}${sep}`.startsWith(`${realpathSync(directory)}${sep}`)) {
    throw new Error('only files of the installed Core Rule Set can be read');
  }
  return readFileSync(real);
};

const sourcesOf = (paths: readonly string[]): RuleSource[] => paths.map((path) => ({ path, text: readFileSync(path) }));

/**
 * Rules that `text` has. Those that it takes out of what stands before it are no fewer of its own; where it does not compile without
 * that, all there are tell.
 */
const countOwn = (text: RuleSource, all: RuleSet, others: readonly RuleSource[], env: CompileEnv): number => {
  const alone = compile([BASE, text], env).ruleSet;
  if (alone) return alone.ruleCount;
  return Math.max(0, all.ruleCount - (compile(others, env).ruleSet?.ruleCount ?? 0));
};

const run = ({ name, content, core, bodyLimit }: CompileJob): CompileOutcome => {
  // Guards may have a country database: that there is none here is nothing to warn of.
  const geo = () => null;
  const env = { readFile: readBeside(core?.directory), memoBytes: 0, maxBodyBytes: bodyLimit, geo };
  const before = [BASE, ...TAKEN, ...sourcesOf(core?.setup ?? [])];
  const after = sourcesOf(core?.rules ?? []);
  const text: RuleSource = { path: name, text: Buffer.from(content, 'utf8') };
  const { ruleSet, diagnostics } = compile([...before, text, ...after], env);
  const errors: Diagnostic[] = diagnostics.filter(({ severity }) => severity === 'error').slice(0, MOST_TOLD);
  // What the Core Rule Set has of them is nothing that its user could mend.
  const warnings = diagnostics
    .filter(({ severity, file }) => severity === 'warning' && file === name)
    .slice(0, MOST_TOLD);
  if (!ruleSet) return { ruleCount: null, errors, warnings };
  return { ruleCount: countOwn(text, ruleSet, [...before, ...after], env), errors, warnings };
};

parentPort?.postMessage(run(workerData as CompileJob));
