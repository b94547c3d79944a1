import { parseNetwork } from './network.ts';
import { createNetworkSet } from './network-set.ts';

/** What "local network" means to an access list: RFC 1918, RFC 4193, loopback and link-local. */
const LOCAL = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
].map(parseNetwork);

const set = createNetworkSet(LOCAL);

/** Tells whether an address belongs to a private, loopback or link-local network. */
export const isLocalNetwork = (address: string): boolean => set.has(address);
