import { isIP } from 'node:net';
import type { CountryLookup } from './country-lookup.ts';
import { isLocalNetwork } from './local-network.ts';
import { formatNetwork, parseNetwork } from './network.ts';
import { createNetworkSet } from './network-set.ts';

/** One entry of an access list. */
export interface AccessRule {
  /** Address or CIDR range. */
  readonly cidr: string;
}

/** What decides of an access list; the wire form has names and descriptions besides. */
export interface AccessList {
  readonly type: 'allow' | 'deny' | 'geo_allow' | 'geo_deny';
  readonly rules: readonly AccessRule[];
  /** ISO 3166-1 alpha-2 codes in capitals. */
  readonly countries: readonly string[];
  readonly local_network_only: boolean;
  readonly enabled: boolean;
}

/** What an access list decides about one client. */
export interface Judgement {
  readonly allowed: boolean;
  /** Why, in words for the operator; constant for equal causes, so that it can be counted. */
  readonly reason: string;
}

/** Decides about one client address. Never throws; text that is no address is refused. */
export type Judge = (address: string) => Judgement;

const allow = (reason: string): Judgement => ({ allowed: true, reason });
const deny = (reason: string): Judgement => ({ allowed: false, reason });

const ALWAYS: Judge = () => allow('the access list is switched off');

/** Decides by country once rules and local networks had their say. */
const byCountry = (list: AccessList, country: CountryLookup | undefined): Judge => {
  const countries = new Set(list.countries);
  const isAllowList = list.type === 'geo_allow';
  return (address) => {
    // Without data the list can't do its work: refusing is the only answer that never lets a wrong one in.
    if (!country) return deny('no country database is installed');
    // Databases made from what networks publish about themselves place even 192.168.1.1 somewhere.
    const code = isLocalNetwork(address) ? null : country(address);
    if (code === null) {
      return isAllowList
        ? deny('the country of the address is not known')
        : allow('the country of the address is not known, so it is none of the denied ones');
    }
    if (isAllowList)
      return countries.has(code) ? allow(`country ${code} is allowed`) : deny(`country ${code} is not allowed`);
    return countries.has(code) ? deny(`country ${code} is denied`) : allow(`country ${code} is not denied`);
  };
};

const byRules = (list: AccessList, country: CountryLookup | undefined): Judge => {
  const networks = list.rules.map(({ cidr }) => parseNetwork(cidr));
  const set = createNetworkSet(networks);
  switch (list.type) {
    case 'allow':
      // "Local networks only" with nothing listed means all of them.
      if (networks.length === 0 && list.local_network_only) return () => allow('the address is in a local network');
      return (address) =>
        set.has(address) ? allow('the address is in an allowed network') : deny('the address is in no allowed network');
    case 'deny':
      return (address) =>
        set.has(address) ? deny('the address is in a denied network') : allow('the address is in no denied network');
    case 'geo_allow':
    case 'geo_deny': {
      const decide = byCountry(list, country);
      return (address) =>
        set.has(address) ? allow('the address is in a network that is always admitted') : decide(address);
    }
    default:
      return list.type satisfies never;
  }
};

/**
 * Makes the judge of an access list. Order: switched off → `local_network_only` → networks → country.
 * On geo lists `rules` are networks that are admitted whatever their country. Throws `InvalidNetwork` for a bad rule:
 * a rule that is skipped is protection that is missing.
 */
export const compileAccessList = (list: AccessList, country?: CountryLookup): Judge => {
  if (!list.enabled) return ALWAYS;
  const decide = byRules(list, country);
  return (text) => {
    const bare = text.trim().replace(/%.*$/, '');
    if (isIP(bare) === 0) return deny('the client has no valid IP address');
    const address = formatNetwork(parseNetwork(bare));
    if (list.local_network_only && !isLocalNetwork(address)) return deny('the address is not in a local network');
    return decide(address);
  };
};
