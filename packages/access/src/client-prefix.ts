import { formatNetwork, parseNetwork } from './network.ts';

/** What one caller can choose freely, as its provider gives it out (RFC 6177). */
const CLIENT_PREFIX = 64;

/**
 * Whom a share or a count belongs to: an IPv4 address (also one mapped into IPv6), or the /64 of an IPv6 one. What is no address is
 * a client of its own.
 */
export const clientPrefix = (address: string): string => {
  try {
    const network = parseNetwork(address);
    return formatNetwork(network.family === 'ipv4' ? network : parseNetwork(`${address}/${CLIENT_PREFIX}`));
  } catch {
    return address;
  }
};
