import { dirname, join } from 'node:path';
import { socketAddress } from './confinement.ts';
import type { ConfigSettings } from './settings.ts';

/** Where a process hands its counters to the next one; a confined one can reach only its own directory. */
const peer = (settings: ConfigSettings): string => {
  const { adminSocket, confinement } = settings;
  if (confinement === null)
    return `  peer sallyport ${socketAddress(settings, join(dirname(adminSocket), 'peers.sock'))}\n`;
  const address = socketAddress(settings, join(confinement.directory, 'peers.sock'));
  return `  bind ${address} mode 660 group ${confinement.group}\n  server sallyport\n`;
};

/** Counters of the rate limit; the local peers section carries them over a reload. */
export const rateTable = (settings: ConfigSettings): string =>
  settings.rateLimit === null
    ? ''
    : `\
peers local
${peer(settings)}
backend requests
  stick-table type ipv6 size 200k expire ${settings.rateLimit.windowSec}s store http_req_rate(${settings.rateLimit.windowSec}s) peers local

`;
