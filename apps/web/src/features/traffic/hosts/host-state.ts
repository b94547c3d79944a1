import type { ProxyHost } from '@sallyport/contract';

export type HostState = 'live' | 'waiting' | 'unserved' | 'disabled';

/** What the proxy makes of a host. */
export const stateOf = ({ enabled, applied, issue }: ProxyHost): HostState => {
  if (issue !== null) return 'unserved';
  if (!applied) return 'waiting';
  return enabled ? 'live' : 'disabled';
};
