import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isOnEveryAddress, type Listen } from '@sallyport/deployment/listen';
import ipaddr from 'ipaddr.js';
import { isMetadataOrLinkLocal } from '../../../net/blocked-addresses.ts';
import { isLoopbackAddress } from '../../../net/loopback.ts';

/** Says why `address` and `port` may not be an ordinary host's origin (`a link-local address`); undefined when they may. */
export type ReservedOrigin = (address: string, port: number) => string | undefined;

/** Linux connects to the own host when it is told to connect to "any address". */
const isUnspecified = (address: string): boolean => address === '0.0.0.0' || address === '::';

const isOwnAddress = (address: string): boolean =>
  isLoopbackAddress(address) ||
  isUnspecified(address) ||
  Object.values(networkInterfaces()).some((found) => found?.some((one) => one.address === address));

/** An IPv6 address can be spelled in many ways, and may stand for an IPv4 one; anything but an address stays as it is. */
const plainAddress = (host: string): string =>
  isIPv4(host) || !ipaddr.IPv6.isValid(host) ? host : ipaddr.process(host).toString();

/** Whether a connection to this address (see `plainAddress`) and port arrives at a listener of ours. */
const arrivesAt = (listen: Listen, address: string, port: number): boolean => {
  if (listen.port !== port) return false;
  const host = plainAddress(listen.host);
  return isOnEveryAddress({ host }) || isLoopbackAddress(host) ? isOwnAddress(address) : host === address;
};

/** Makes the question whether an origin, as it is configured, is the listener that `listener` tells. */
export const createOwnOrigin =
  (listener: () => Listen): ((host: string, port: number) => boolean) =>
  (host, port) =>
    arrivesAt(listener(), host.toLowerCase() === 'localhost' ? '127.0.0.1' : plainAddress(host), port);

/**
 * Makes the rule for origins: never a link-local or metadata address, where clouds hand out credentials to whoever asks, and
 * never one of our own listeners, where a request would count as one from this host. `listeners` tells those in force.
 */
export const createOriginGuard =
  (listeners: () => readonly Listen[]): ReservedOrigin =>
  (given, port) => {
    const address = plainAddress(given);
    if (isMetadataOrLinkLocal(address)) return 'a link-local or metadata address';
    return listeners().some((listen) => arrivesAt(listen, address, port))
      ? "one of Sallyport's own listeners"
      : undefined;
  };
