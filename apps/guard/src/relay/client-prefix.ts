import { formatNetwork, parseNetwork } from '@sallyport/access';

/** Whom a share belongs to: an IPv4 address, or the /64 of an IPv6 one, which is the least that a client is given. */
export const clientPrefix = (address: string): string => {
  const { family } = parseNetwork(address);
  return family === 'ipv4' ? address : formatNetwork(parseNetwork(`${address}/64`));
};
