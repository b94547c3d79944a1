import { formatNetwork, parseNetwork } from '@sallyport/access';
import type { ImportedDecision } from '../decisions/store.ts';
import type { LapiDecision } from './lapi.ts';

const UNITS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  µs: 0.001,
  us: 0.001,
  ns: 0,
};

/** Milliseconds of a duration as Go writes it, such as `3h59m58.2s`; undefined when it is none. */
export const parseGoDuration = (text: string): number | undefined => {
  if (!/^-?(?:\d+(?:\.\d+)?(?:h|ms|m|s|µs|us|ns))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s|µs|us|ns)/g);
  const total = [...parts].reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNITS[unit] ?? 0), 0);
  return text.startsWith('-') ? -total : total;
};

/** Longest time that is believed: dates end somewhere. */
const LONGEST_MS = 10 * 365 * 86_400_000;

/** Of a CrowdSec that is enrolled: what others saw, not what was seen here. */
const COMMUNITY: ReadonlySet<string> = new Set(['CAPI', 'lists']);

/**
 * The ban that a decision of CrowdSec stands for; undefined for what is no ban of an address or network,
 * has ended, or is of a list of others.
 */
export const toDecision = (decision: LapiDecision, now: number): ImportedDecision | undefined => {
  const { scope, type, value, duration, scenario, origin } = decision;
  if (COMMUNITY.has(origin)) return undefined;
  if (type !== 'ban' || !['ip', 'range'].includes(scope.toLowerCase())) return undefined;
  const leftMs = parseGoDuration(duration);
  if (leftMs === undefined || leftMs <= 0) return undefined;
  try {
    return {
      ip: formatNetwork(parseNetwork(value)),
      details: [scenario, origin && `(${origin})`].filter(Boolean).join(' ').slice(0, 500),
      expires_at: new Date(now + Math.min(leftMs, LONGEST_MS)).toISOString(),
    };
  } catch {
    return undefined;
  }
};
