import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import { isFromProxy } from './proxy-door.ts';

const headerOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;

const normalise = (address: string): string | undefined => {
  if (address === '127.0.0.1') return address;
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : undefined;
};

/**
 * Makes a function that finds the address a request comes from: the TCP peer, unless that is a proxy the deployment trusts; then
 * what it says about its own peer. Entries are read from the right, where trusted proxies append, because the caller writes
 * the left ones. Our own data plane is believed where nobody else can connect; empty when it says nothing.
 */
export const createClientAddress =
  (isTrustedProxy: (address: string) => boolean) =>
  ({ socket, headers }: IncomingMessage): string => {
    if (isFromProxy(socket)) return normalise(headerOf(headers['x-real-ip']) ?? '') ?? '';
    const peer = normalise(socket.remoteAddress ?? '') ?? '';
    if (!isTrustedProxy(peer)) return peer;
    let nearest = peer;
    for (const entry of (headerOf(headers['x-forwarded-for']) ?? '').split(',').reverse()) {
      const address = normalise(entry.trim());
      if (address === undefined) return nearest;
      nearest = address;
      if (!isTrustedProxy(address)) return address;
    }
    return nearest;
  };
