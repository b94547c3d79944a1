import type { ProxyHost } from '@sallyport/contract';
import { stateOf } from './host-state.ts';

/** States that the list can be narrowed down to. */
export const STATE_FILTERS = ['live', 'waiting', 'unserved', 'warnings', 'disabled'] as const;

/** What a host can have or lack. */
const FEATURES = {
  certificate: (host) => host.auto_certificate || host.certificate_id !== null,
  forced: (host) => host.ssl_forced,
  firewall: (host) => host.waf_enabled,
  accessList: (host) => host.access_list_id !== null,
  websocket: (host) => host.websocket_support,
} as const satisfies Record<string, (host: ProxyHost) => boolean>;
export type Feature = keyof typeof FEATURES;

export const FEATURE_NAMES = Object.keys(FEATURES) as readonly Feature[];

/** What is asked for: of a state, with (`firewall`) or without (`!firewall`) a feature; null is anything. */
export interface HostFilter {
  state: string | null;
  feature: string | null;
}

const isOfState = (host: ProxyHost, state: string): boolean =>
  state === 'warnings' ? host.warnings.length > 0 : stateOf(host) === state;

const hasFeature = (host: ProxyHost, feature: string): boolean => {
  const isWanted = !feature.startsWith('!');
  const test = FEATURES[(isWanted ? feature : feature.slice(1)) as Feature];
  return test === undefined || test(host) === isWanted;
};

/** The hosts that are asked for. */
export const filterHosts = (hosts: readonly ProxyHost[], { state, feature }: HostFilter): readonly ProxyHost[] => {
  if (state === null && feature === null) return hosts;
  return hosts.filter(
    (host) => (state === null || isOfState(host, state)) && (feature === null || hasFeature(host, feature)),
  );
};
