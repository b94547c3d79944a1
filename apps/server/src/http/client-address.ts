import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { isLoopbackAddress } from '../net/loopback.ts';
import { PROXIED_MARKER } from './local-caller.ts';

const headerOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;

const normalise = (address: string): string | undefined => {
  if (address === '127.0.0.1') return address;
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : undefined;
};

/**
 * Makes a function that finds the address a request comes from: the TCP peer, unless that is our own data plane on this
 * host or a proxy the deployment trusts; then what it says about its own peer. Entries are read from the right, where
 * trusted proxies append, because the caller writes the left ones.
 */
export const createClientAddress =
  (isTrustedProxy: (address: string) => boolean) =>
  ({ socket, headers }: IncomingMessage): string => {
    const peer = normalise(socket.remoteAddress ?? '') ?? '';
    const isOurProxy = headers[PROXIED_MARKER] !== undefined && isLoopbackAddress(peer);
    if (!isOurProxy && !isTrustedProxy(peer)) return peer;
    const realIp = isOurProxy ? normalise(headerOf(headers['x-real-ip']) ?? '') : undefined;
    if (realIp !== undefined) return realIp;
    let nearest = peer;
    for (const entry of (headerOf(headers['x-forwarded-for']) ?? '').split(',').reverse()) {
      const address = normalise(entry.trim());
      if (address === undefined) return nearest;
      nearest = address;
      if (!isTrustedProxy(address)) return address;
    }
    return nearest;
  };
