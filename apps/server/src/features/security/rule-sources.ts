import type { GuardConfig, Ruleset, SecurityConfig } from '@sallyport/contract';
import type { CoreRuleSet } from '../rulesets/core-rule-set.ts';

type RuleSources = GuardConfig['waf']['rule_sources'];
type Levels = Pick<SecurityConfig, 'waf_paranoia_level' | 'waf_anomaly_threshold'>;

/** Ids below 100,000 are reserved for local use; the Core Rule Set's own start at 900,000. */
const SETTINGS_RULE_ID = 99_000;

const text = (path: string, content: string): RuleSources[number] => ({ kind: 'text', path, text: content });
const files = (paths: readonly string[]): RuleSources => paths.map((path) => ({ kind: 'file', path }));

/**
 * Mode (monitor or block) is not said here: the guards decide by it what they do with a verdict. Answers are only given to
 * the rules for hosts that ask for it.
 */
const engine = text('sallyport/engine', 'SecRuleEngine On\nSecRequestBodyAccess On\nSecResponseBodyAccess On\n');

/** Sets what the Core Rule Set 3 (first name) and 4 (the others) read. */
const levels = ({ waf_paranoia_level: level, waf_anomaly_threshold: threshold }: Levels) => {
  const variables = [
    `tx.paranoia_level=${level}`,
    `tx.blocking_paranoia_level=${level}`,
    `tx.detection_paranoia_level=${level}`,
    `tx.inbound_anomaly_score_threshold=${threshold}`,
  ];
  const setvars = variables.map((variable) => `setvar:${variable}`).join(',');
  return text('sallyport/levels', `SecAction "id:${SETTINGS_RULE_ID},phase:1,pass,nolog,t:none,${setvars}"\n`);
};

/**
 * The rules of the guards in reading order: engine settings, then the Core Rule Set's set-up, the levels, the chosen
 * ruleset and the Core Rule Set (or the ruleset alone, in mode `custom`), then the exclusions, which change rules that
 * must be known by then.
 */
export const ruleSources = (
  config: Levels,
  ruleset: Pick<Ruleset, 'name' | 'mode' | 'content'> | undefined,
  core: CoreRuleSet | undefined,
  exclusions: string,
): RuleSources => {
  const own = ruleset ? [text(`ruleset/${ruleset.name}`, ruleset.content)] : [];
  const after = exclusions === '' ? [] : [text('sallyport/exclusions', exclusions)];
  if (ruleset?.mode === 'custom') return [engine, levels(config), ...own, ...after];
  return [engine, ...files(core?.setup ?? []), levels(config), ...own, ...files(core?.rules ?? []), ...after];
};
