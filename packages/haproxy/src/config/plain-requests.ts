import { routeFlags } from '../routes/flags.ts';
import type { ConfigSettings } from './settings.ts';

/**
 * Where most requests leave the rules: they are let in by whoever is banned, limited or refused, carry the headers for their
 * origin and point at it, and what follows is about upgrades, hosts that force TLS or want no headers of ours, and judgements.
 */
export const plainRequests = ({ guard }: ConfigSettings): string => `\
  # Nothing that follows is about a request that asks for no upgrade, of a host without any of that.
  acl upgrade req.hdr(upgrade) -m found
  acl plain_host var(txn.flags),and(${routeFlags.sslForced | routeFlags.standardHeaders}) -m int ${routeFlags.standardHeaders}
  http-request allow if plain_host !refused !upgrade${guard === null ? '' : ' !judged'}

`;
