import { type GuardConfig, MAX_BODY_LIMIT, type Ruleset, type SecurityConfig } from '@sallyport/contract';
import { crsPolicy } from '@sallyport/waf/crs-settings';
import { splitList } from '../../../dataplane/protection/waf-setup.ts';
import type { CoreRuleSet } from '../rulesets/core-rule-set.ts';
import { SETTINGS_RULE_ID } from './settings-rule.ts';

type RuleSources = GuardConfig['waf']['rule_sources'];
type Levels = Pick<
  SecurityConfig,
  'waf_paranoia_level' | 'waf_anomaly_threshold' | 'waf_allowed_methods' | 'waf_allowed_content_types'
>;

/** No file has this name: guards refuse a configuration that names it, and requests without one. No rules would let all pass. */
const NO_CORE_RULE_SET = '/usr/share/modsecurity-crs/rules/*.conf';

const text = (path: string, content: string): RuleSources[number] => ({ kind: 'text', path, text: content });
const files = (paths: readonly string[]): RuleSources => paths.map((path) => ({ kind: 'file', path }));

/**
 * Mode (monitor or block) is not said here: the guards decide by it what they do with a verdict. Answers are only given to
 * the rules for hosts that ask for it.
 */
const engine = text(
  'sallyport/engine',
  // How long a body may be is a setting; a limit in the ruleset that follows can be lower.
  `SecRuleEngine On
SecRequestBodyAccess On
SecRequestBodyLimit ${MAX_BODY_LIMIT}
SecRequestBodyNoFilesLimit ${MAX_BODY_LIMIT}
SecResponseBodyAccess On
`,
);

/** Sets what the Core Rule Set 3 (first name) and 4 (the others) read. */
const levels = (config: Levels) => {
  const { waf_paranoia_level: level, waf_anomaly_threshold: threshold } = config;
  const policy = crsPolicy({
    methods: splitList(config.waf_allowed_methods),
    contentTypes: splitList(config.waf_allowed_content_types),
  });
  const variables = [
    `tx.paranoia_level=${level}`,
    `tx.blocking_paranoia_level=${level}`,
    `tx.detection_paranoia_level=${level}`,
    `tx.inbound_anomaly_score_threshold=${threshold}`,
  ];
  const setvars = [
    ...variables.map((variable) => `setvar:${variable}`),
    ...Object.entries(policy).map(([name, value]) => `setvar:'tx.${name}=${value}'`),
  ].join(',');
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
  return [
    engine,
    ...files(core?.setup ?? []),
    levels(config),
    ...own,
    ...files(core?.rules ?? [NO_CORE_RULE_SET]),
    ...after,
  ];
};
