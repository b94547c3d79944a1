import ipaddr from 'ipaddr.js';

/** The forms in which nearly every local peer appears, so that a request needn't parse them. */
const USUAL = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/** Tells whether `address` is one of the own host's loopback addresses, in any spelling. */
export const isLoopbackAddress = (address: string | undefined): boolean =>
  address !== undefined &&
  (USUAL.has(address) || (ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback'));
