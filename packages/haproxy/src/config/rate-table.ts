import { dirname, join } from 'node:path';
import { quote } from './quote.ts';
import type { ConfigSettings } from './settings.ts';

/** Counters of the rate limit; the local peers section carries them over a reload. */
export const rateTable = ({ rateLimit, adminSocket }: ConfigSettings): string =>
  rateLimit === null
    ? ''
    : `\
peers local
  peer sallyport ${quote(`unix@${join(dirname(adminSocket), 'peers.sock')}`)}

backend requests
  stick-table type ipv6 size 200k expire ${rateLimit.windowSec}s store http_req_rate(${rateLimit.windowSec}s) peers local

`;
