import { everybodyCleared, judgedFlags, limitKey, routeFlags, switchKeys } from '@sallyport/haproxy';
import { mapKeys } from './live-map.ts';

export interface RateLimit {
  /** A client (/32, /64) is refused when it made more than `requests + burst` requests in the last `windowSec`. */
  requests: number;
  burst: number;
  windowSec: number;
  /** Canonical networks that are not counted. */
  bypass: readonly string[];
}

/** Which verdicts the frontend asks the guards for, and what it does without one. Few bytes: turned without a reload. */
export interface GuardSwitches {
  /** Ask for every host that has an access list. */
  judgeAccess: boolean;
  /** Ask for every host with the firewall on. */
  judgeWaf: boolean;
  /** `closed`: 503 without a verdict. `open`: pass and count. */
  failMode: 'closed' | 'open';
  /** Revision of the guards' configuration that a verdict must be of, or of a newer one; without it, refused. */
  policy: number;
  /** Revision of which a pass of an access list may be remembered by HAProxy for a while; 0: each request is judged. */
  remembered: number;
}

/** Guards are asked nothing, so there is no revision to wait for. */
export const NOTHING_ASKED: GuardSwitches = {
  judgeAccess: false,
  judgeWaf: false,
  failMode: 'closed',
  policy: 0,
  remembered: 0,
};

type Entries = [string, string][];

/** Lines of a map that says whether a network is in it. */
export const networkEntries = (networks: readonly string[]): Entries =>
  [...new Set(networks.flatMap(mapKeys))].map((key) => [key, '1']);

/** Lines of rate-limits.map: that nobody is limited is said, not left out. */
export const limitEntries = (limit: RateLimit | null): Entries => [
  [limitKey, limit ? String(limit.requests + limit.burst) : '0'],
];

/** Lines of judging.map. */
export const switchEntries = ({ judgeAccess, judgeWaf, failMode, policy, remembered }: GuardSwitches): Entries => {
  const asked = (judgeAccess ? routeFlags.accessList : 0) | (judgeWaf ? routeFlags.firewall : 0);
  return [
    [switchKeys.unasked, String(judgedFlags & ~asked)],
    [switchKeys.failOpen, failMode === 'open' ? '1' : '0'],
    [switchKeys.policy, String(policy)],
    [switchKeys.remembered, String(remembered)],
  ];
};

/**
 * Lines of bans.map for networks and their references. Two may have one key when networks overlap, which is harmless: both
 * are bans. The last lines are for everybody else: a list that was cut lacks them, and so does one that holds everybody back.
 */
export const banLines = (entries: ReadonlyMap<string, string>, isHeld = false): [string, string][] => {
  const lines = [...entries].flatMap(([network, reference]) =>
    mapKeys(network).map((key): [string, string] => [key, reference]),
  );
  // Whoever bans all addresses has banned all.
  if (isHeld) return lines;
  for (const [network, cleared] of everybodyCleared) if (!entries.has(network)) lines.push([network, cleared]);
  return lines;
};
