import type { GuardConfig, WafExclusion } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';

/** What an exclusion can name: a collection, its count or everything but keys come from rules, not from here. */
const TARGET = /^[A-Z][A-Z_]{1,63}(?::(?:\/[^/"'\\\s|,]{1,120}\/|[^/"'\\\s|,!&][^"'\\\s|,]{0,120}))?$/;
const MAX_ID = 2_147_483_647;

interface IdRange {
  first: number;
  last: number;
}

const parseIds = (text: string | number, field: string): IdRange => {
  const match = /^(\d{1,10})(?:\s*-\s*(\d{1,10}))?$/.exec(String(text).trim());
  const first = Number(match?.[1]);
  const last = match?.[2] === undefined ? first : Number(match[2]);
  if (!match || first < 1 || last > MAX_ID || last < first) {
    throw refuse.invalid(`${field} must be a rule id or a range such as 942100-942199`);
  }
  return { first, last };
};

/** Tells whether text can be the target of an exclusion; nothing else is ever written into rules. */
export const isExclusionTarget = (text: string): boolean => TARGET.test(text);

const isRange = ({ rule_id }: WafExclusion): boolean => !/^\d+$/.test(String(rule_id));

const isEverywhere = ({ host_uuid, path }: WafExclusion): boolean => host_uuid === undefined && path === undefined;

const normaliseOne = (exclusion: WafExclusion, field: string): WafExclusion => {
  const { first, last } = parseIds(exclusion.rule_id, `${field}.rule_id`);
  if (first !== last && !isEverywhere(exclusion)) {
    throw refuse.invalid(`${field}.rule_id can be a range only without host_uuid and path`);
  }
  if (exclusion.target !== undefined && !isExclusionTarget(exclusion.target)) {
    throw refuse.invalid(`${field}.target must be a target such as ARGS:comment`);
  }
  const { expires_at, host_uuid } = exclusion;
  return {
    ...exclusion,
    rule_id: first === last ? first : `${first}-${last}`,
    ...(expires_at === undefined ? {} : { expires_at: new Date(expires_at).toISOString() }),
    ...(host_uuid === undefined ? {} : { host_uuid: host_uuid.toLowerCase() }),
    description: exclusion.description ?? '',
  };
};

/** Checks exclusions beyond their schema and writes them in one form; throws a 400 that names the entry. */
export const normaliseExclusions = (exclusions: readonly WafExclusion[]): WafExclusion[] =>
  exclusions.map((exclusion, index) => normaliseOne(exclusion, `waf_exclusions[${index}]`));

/** What the guards make of exclusions. */
export interface CompiledExclusions {
  /** SecLang that follows the rules: exclusions that hold for every request and have no end, and ranges. */
  directives: string;
  /** Exclusions that depend on host or path, or that end: other rules take seconds to compile, these act and end at once. */
  perRequest: GuardConfig['waf']['exclusions'];
  /** When the next of them ends, in milliseconds since the epoch; undefined: never. */
  nextExpiry: number | undefined;
}

/** Compiles the exclusions that are in force at `now`. Those of a host that is gone are left out: they hold for nobody. */
export const compileExclusions = (
  exclusions: readonly WafExclusion[],
  hostIds: ReadonlyMap<string, number>,
  now: number,
): CompiledExclusions => {
  const directives: string[] = [];
  const perRequest: CompiledExclusions['perRequest'] = [];
  let nextExpiry: number | undefined;
  for (const exclusion of exclusions) {
    const { rule_id, target, host_uuid, path, expires_at } = exclusion;
    const expiry = expires_at === undefined ? undefined : Date.parse(expires_at);
    if (expiry !== undefined) {
      if (expiry <= now) continue;
      nextExpiry = Math.min(nextExpiry ?? expiry, expiry);
    }
    if (isEverywhere(exclusion) && (expiry === undefined || isRange(exclusion))) {
      directives.push(
        target === undefined ? `SecRuleRemoveById "${rule_id}"` : `SecRuleUpdateTargetById "${rule_id}" "!${target}"`,
      );
      continue;
    }
    const host_id = host_uuid === undefined ? undefined : hostIds.get(host_uuid);
    if (host_uuid !== undefined && host_id === undefined) continue;
    perRequest.push({
      rule_id: Number(rule_id),
      ...(target === undefined ? {} : { target }),
      ...(host_id === undefined ? {} : { host_id }),
      ...(path === undefined ? {} : { path }),
    });
  }
  return { directives: directives.map((line) => `${line}\n`).join(''), perRequest, nextExpiry };
};
