import { BlockList, isIP } from 'node:net';
import { type Cidr, cidrSet } from '@sallyport/deployment/cidr';
import { formatAddress, isOnEveryAddress, type Listen } from '@sallyport/deployment/listen';
import { amiss, type Outcome, well } from './outcome.ts';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

const isLoopback = (address: string): boolean => {
  const version = isIP(address);
  return version !== 0 && LOOPBACK.check(address, version === 4 ? 'ipv4' : 'ipv6');
};

/** Whether who connects to this listener can have an address out of these ranges. */
const canBeReached = (cidrs: readonly Cidr[], bind: Listen): boolean => {
  if (isOnEveryAddress(bind)) return cidrs.length > 0;
  // Who gets there, through a tunnel for example, comes from loopback.
  if (isLoopback(bind.host)) return cidrSet(cidrs)(bind.host);
  return cidrs.some(({ family }) => family === (isIP(bind.host) === 6 ? 'ipv6' : 'ipv4'));
};

/** Whether the management ranges let anybody reset who can reach the second tier's listener at all. */
export const checkManagement = (cidrs: readonly Cidr[], bind: Listen | undefined): Outcome => {
  const ranges = cidrs.map(String).join(', ');
  if (cidrs.length === 0) {
    return amiss('No address may reset: put those that you manage from into SALLYPORT_MANAGEMENT_CIDRS');
  }
  if (bind && !canBeReached(cidrs, bind)) {
    const missing = isLoopback(bind.host) ? bind.host : 'the networks that reach it';
    return amiss(
      `Whoever reaches the emergency server at ${formatAddress(bind.host, bind.port)} is refused, as resets may come from ` +
        `${ranges} only: add ${missing} to SALLYPORT_MANAGEMENT_CIDRS`,
    );
  }
  return well(`Resets may come from ${ranges}`);
};
