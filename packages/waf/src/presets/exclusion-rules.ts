import { parseTarget } from '../compile/exclusions.ts';
import type { RuleSource } from '../model/rule-set.ts';

/** A rule, or one target of it, that an operator has switched off: everywhere, or for a host, below a path, until a moment. */
export type RuleExclusion = {
  readonly rule_id: number;
  /** A SecLang target such as `ARGS:comment` or `REQUEST_COOKIES:/^_ga/`; absent: the whole rule. */
  readonly target?: string | null;
  readonly host?: string | null;
  /** Begins with "/"; holds for this path and what is below it. */
  readonly path?: string | null;
  /** ISO 8601; absent: for good. */
  readonly expires_at?: string | null;
};

const firstId = 9_510_000;
const most = 10_000;

/**
 * Rule text for exclusions: `before` goes in front of the rules it is about, `after` behind them. Throws RangeError that names the
 * exclusion and the field when one cannot be expressed: an exclusion is a hole, and a hole of the wrong shape is worse than none.
 */
export const exclusionRules = (exclusions: readonly RuleExclusion[]): { before: RuleSource; after: RuleSource } => {
  if (exclusions.length > most) throw new RangeError(`More than ${most} exclusions`);
  const before: string[] = [];
  const after: string[] = [];
  for (const [index, exclusion] of exclusions.entries()) {
    const conditions = conditionsOf(exclusion, index);
    const { rule_id: ruleId } = exclusion;
    const target = exclusion.target ?? null;
    if (!Number.isInteger(ruleId) || ruleId < 1)
      throw new RangeError(`Exclusion ${index + 1}: ${ruleId} is not a rule id`);
    if (target !== null) checkTarget(target, index);
    if (conditions.length === 0) {
      after.push(target === null ? `SecRuleRemoveById ${ruleId}` : `SecRuleUpdateTargetById ${ruleId} "!${target}"`);
    } else {
      const control = target === null ? `ruleRemoveById=${ruleId}` : `ruleRemoveTargetById=${ruleId};${target}`;
      before.push(chainOf(conditions, firstId + index, `ctl:${control}`));
    }
  }
  return {
    before: { path: 'exclusions-before', text: before.map((rule) => `${rule}\n`).join('') },
    after: { path: 'exclusions-after', text: after.map((rule) => `${rule}\n`).join('') },
  };
};

type Condition = { readonly test: string; readonly transformations: string };

const conditionsOf = ({ host, path, expires_at: expiresAt }: RuleExclusion, index: number): Condition[] => {
  const conditions: Condition[] = [];
  if (host != null) {
    if (!/^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/i.test(host))
      throw new RangeError(`Exclusion ${index + 1}: "${host}" is not a host name`);
    conditions.push({
      test: `SecRule SERVER_NAME "@streq ${host.toLowerCase()}"`,
      transformations: 't:none,t:lowercase',
    });
  }
  if (path != null) {
    if (!/^\/[^\s"'\\,%\x00-\x1f\x7f]*$/.test(path))
      throw new RangeError(`Exclusion ${index + 1}: "${path}" is not a path`);
    // Normalised first, so that "/api/../admin" does not pass for something below "/api". What some applications normalise
    // further is below nothing: backslashes, what is encoded twice, parameters of a segment ("/api/..;/admin"), controls.
    const below = path.replace(/\/+$/, '').replace(/[^A-Za-z0-9/_-]/g, '\\$&');
    const test = `SecRule REQUEST_FILENAME "@rx \\A${below}(?:/[^\\x5c%;\\x00-\\x1f]*)?\\z"`;
    conditions.push({ test, transformations: 't:none,t:normalizePath' });
  }
  if (expiresAt != null) {
    const seconds = Math.floor(Date.parse(expiresAt) / 1_000);
    if (!Number.isFinite(seconds))
      throw new RangeError(`Exclusion ${index + 1}: "${expiresAt}" is not a moment in time`);
    conditions.push({ test: `SecRule TIME_EPOCH "@lt ${seconds}"`, transformations: 't:none' });
  }
  return conditions;
};

const checkTarget = (target: string, index: number): void => {
  if (/["'\\\s,|]/.test(target))
    throw new RangeError(`Exclusion ${index + 1}: "${target}" holds a character that a target cannot hold`);
  try {
    parseTarget(target);
  } catch (cause) {
    throw new RangeError(`Exclusion ${index + 1}: ${(cause as Error).message}`, { cause });
  }
};

const chainOf = (conditions: readonly Condition[], id: number, control: string): string =>
  conditions
    .map(({ test, transformations }, at) => {
      const head = at === 0 ? [`id:${id}`, 'phase:1', 'pass', 'nolog'] : [];
      const tail = at === conditions.length - 1 ? control : 'chain';
      return `${test} "${[...head, transformations, tail].join(',')}"`;
    })
    .join('\n');
