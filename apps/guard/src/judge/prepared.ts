import type { Policy } from '../policy/policy.ts';

/** What HAProxy wants to know of a request. */
export interface Question {
  hostId: number;
  /** Whether the route says that an access list decides. */
  hasList: boolean;
  /** Whether it says that the firewall inspects. */
  isFirewalled: boolean;
  /** Revision that the configuration must have reached for a verdict to count. */
  policy: number;
}

/**
 * Why no verdict of this policy would count: there is none, it is older than what is asked for, or it lacks what it should
 * judge this host by. Undefined when it may judge. One that is newer than what HAProxy knows of has the last word on whether anything is enforced.
 */
export const whyUnprepared = (policy: Policy | undefined, question: Question): string | undefined => {
  if (!policy) return 'there is no configuration to judge by';
  const { hostId, hasList, isFirewalled, policy: required } = question;
  const { revision } = policy;
  if (!(revision >= required)) return `revision ${required} is asked for, and ${revision} is in force`;
  const isSame = revision === required;
  if (isSame && isFirewalled && !policy.hasFirewall) return 'the firewall is asked for, and it is off here';
  if (isSame && hasList && !policy.enforcesLists) return 'an access list is asked for, and they are off here';
  // Not even to one that is newer: the list may be gone because the host is, whose route HAProxy has not forgotten yet.
  if (hasList && !policy.knowsAccess(hostId)) return `host ${hostId} has no access list here`;
  return undefined;
};
