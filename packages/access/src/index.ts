export { type AccessList, type AccessRule, compileAccessList, type Judge, type Judgement } from './access-list.ts';
export { clientPrefix } from './client-prefix.ts';
export { isCountry } from './countries.ts';
export type { CountryLookup } from './country-lookup.ts';
export { isLocalNetwork } from './local-network.ts';
export { formatNetwork, InvalidNetwork, type Network, parseNetwork } from './network.ts';
export { createNetworkSet, type NetworkSet, overlaps } from './network-set.ts';
export { withoutMapped } from './without-mapped.ts';
