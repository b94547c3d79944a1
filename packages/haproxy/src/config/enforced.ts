import { routeFlags } from '../routes/flags.ts';

/**
 * What the maps of the security suite say. HAProxy takes nothing for granted: an entry that is missing never opens
 * anything, so an empty, cut or forgotten file refuses or has everything judged (decision 0008).
 */

/** Value of a network that nobody has banned. */
export const clearedClient = 'ok';

/**
 * Last lines of bans.map: longest prefix wins, so who is in no other line is found in these. Who is found in none meets a
 * list that is not whole.
 */
export const everybodyCleared: readonly (readonly [string, string])[] = [
  ['0.0.0.0/0', clearedClient],
  ['::/0', clearedClient],
];

/** The one key of rate-limits.map. Its value: requests per window; 0 when nobody is limited. */
export const limitKey = 'requests';

/** What a route's flags may ask the guards for. */
export const judgedFlags = routeFlags.accessList | routeFlags.firewall;

/** Keys of judging.map, whose values are numbers. */
export const switchKeys = {
  /** Of `judgedFlags`, those that the guards are not asked about. What is left of a number that was cut has none of them. */
  unasked: 'unasked',
  /** 1: requests without a verdict pass. */
  failOpen: 'fail_open',
  /** Revision of the guards' configuration that has to be in force for a verdict to count; none: any. */
  policy: 'policy',
  /** Revision by which a pass of an access list may be remembered; none, or 0: none may. */
  remembered: 'remembered',
} as const;
