import type { WafExclusion } from '@sallyport/contract';
import type { SecurityEvent } from '../logs/security-event.ts';
import { isBookkeeping } from '../logs/telling-match.ts';
import { isExclusionTarget } from '../suite/exclusions.ts';

const MAX_SUGGESTIONS = 20;
const MAX_PATH_LENGTH = 1_024;

/** The path of a request target; undefined when an exclusion could not name it. */
const pathOf = (requestUri: string): string | undefined => {
  const path = /^(?:https?:\/\/[^/?#]*)?(\/[^?#]*)/i.exec(requestUri)?.[1];
  return path !== undefined && path.length <= MAX_PATH_LENGTH ? path : undefined;
};

/** The narrowest exclusions that would let a blocked request pass: this rule, this target, this host, this path. */
export const suggestExclusions = (event: SecurityEvent, hostUuid: string | null): WafExclusion[] => {
  if (event.layer !== 'waf') return [];
  const found = event.matches.filter((match) => match.rule_id > 0 && !isBookkeeping(match));
  const path = pathOf(event.request_uri);
  const suggestions = new Map<string, WafExclusion>();
  for (const { rule_id, variable, message } of found) {
    const target = isExclusionTarget(variable) ? variable : undefined;
    suggestions.set(`${rule_id} ${target ?? ''}`, {
      rule_id,
      ...(target === undefined ? {} : { target }),
      ...(hostUuid === null ? {} : { host_uuid: hostUuid }),
      ...(path === undefined ? {} : { path }),
      description: `Request ${event.reference}${message === '' ? '' : `: ${message}`}`.slice(0, 1_024),
    });
  }
  return [...suggestions.values()].slice(0, MAX_SUGGESTIONS);
};
