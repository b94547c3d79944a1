import type { SecurityState } from './state.ts';

type Hosts = SecurityState['guard']['hosts'];
type Judgement = Partial<Hosts[number]>;

/** As guards judge a host that they are told nothing of. */
const USUAL: Judgement = { access_list_id: null, waf_enabled: true };

const isSame = (a: Judgement, b: Judgement): boolean =>
  a.access_list_id === b.access_list_id &&
  a.waf_enabled === b.waf_enabled &&
  a.waf_body_limit === b.waf_body_limit &&
  (a.waf_settings === b.waf_settings || JSON.stringify(a.waf_settings) === JSON.stringify(b.waf_settings));

/** Ids of the hosts that are judged otherwise after a change than before. */
export const judgedAnew = (before: Hosts, after: Hosts): number[] => {
  const old = new Map(before.map((host) => [host.id, host]));
  const changed: number[] = [];
  for (const host of after) {
    if (!isSame(old.get(host.id) ?? USUAL, host)) changed.push(host.id);
    old.delete(host.id);
  }
  for (const host of old.values()) if (!isSame(host, USUAL)) changed.push(host.id);
  return changed;
};
