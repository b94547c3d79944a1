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

/** What nearly all are: `3h59m58.2s`. */
const COMMON = /^(?:(\d+)h)?(?:(\d+)m)?(\d+(?:\.\d+)?)s$/;

/** Milliseconds of a duration as Go writes it, such as `3h59m58.2s`; undefined when it is none. */
export const parseGoDuration = (text: string): number | undefined => {
  const common = COMMON.exec(text);
  if (common) return (Number(common[1] ?? 0) * 3_600 + Number(common[2] ?? 0) * 60 + Number(common[3])) * 1_000;
  if (!/^-?(?:\d+(?:\.\d+)?(?:h|ms|m|s|µs|us|ns))+$/.test(text)) return undefined;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(h|ms|m|s|µs|us|ns)/g);
  const total = [...parts].reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNITS[unit] ?? 0), 0);
  return text.startsWith('-') ? -total : total;
};

/** Longest time that is believed: dates end somewhere. */
const LONGEST_MS = 10 * 365 * 86_400_000;

/** So that its origin, which is told after it, is never cut off. */
const LONGEST_SCENARIO = 400;

/** Of a CrowdSec that is enrolled: what others saw, and lists that it subscribed to there; not what was seen here. */
const ORIGINS_OF_OTHERS = ['CAPI', 'lists'] as const;

/** Whether a decision is of a list of others, which comes with an enrolment. */
export const isOfOthers = ({ origin }: Pick<LapiDecision, 'origin'>): boolean =>
  ORIGINS_OF_OTHERS.some((one) => one === origin);

/** How the details of bans end that are of lists of others. */
export const ENDINGS_OF_OTHERS = ORIGINS_OF_OTHERS.map((origin) => `(${origin})`);

/** The same of a ban that was made of one. */
export const isBanOfOthers = ({ details }: Pick<ImportedDecision, 'details'>): boolean =>
  ENDINGS_OF_OTHERS.some((ending) => details.endsWith(ending));

/** The ban that a decision of CrowdSec stands for; undefined for what is no ban of an address or network, or has ended. */
export const toDecision = (decision: LapiDecision, now: number): ImportedDecision | undefined => {
  const { scope, type, value, duration, scenario = '', origin = '' } = decision;
  if (type !== 'ban' || !['ip', 'range'].includes(scope.toLowerCase())) return undefined;
  const leftMs = parseGoDuration(duration);
  if (leftMs === undefined || leftMs <= 0) return undefined;
  try {
    return {
      ip: formatNetwork(parseNetwork(value)),
      details: [scenario.slice(0, LONGEST_SCENARIO), origin && `(${origin})`].filter(Boolean).join(' ').slice(0, 500),
      expires_at: new Date(now + Math.min(leftMs, LONGEST_MS)).toISOString(),
    };
  } catch {
    return undefined;
  }
};
