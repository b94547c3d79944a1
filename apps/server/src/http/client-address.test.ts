import type { IncomingMessage } from 'node:http';
import { Cidr, cidrSet } from '@sallyport/deployment/cidr';
import { expect, test } from 'vitest';
import { createClientAddress } from './client-address.ts';

const addressOf = createClientAddress(cidrSet([Cidr.parse('10.0.0.0/8'), Cidr.parse('2001:db8:ffff::/48')]));

test.each([
  ['198.51.100.1', {}, '198.51.100.1'],
  ['::ffff:198.51.100.1', {}, '198.51.100.1'],
  // Nobody believes a stranger about where a request comes from.
  ['198.51.100.1', { 'x-forwarded-for': '203.0.113.1', 'x-real-ip': '203.0.113.1' }, '198.51.100.1'],
  ['198.51.100.1', { 'x-sallyport-proxied': '1', 'x-real-ip': '203.0.113.1' }, '198.51.100.1'],
  ['127.0.0.1', { 'x-forwarded-for': '203.0.113.1' }, '127.0.0.1'],
  // Whoever is on this machine can write what our data plane writes.
  ['127.0.0.1', { 'x-sallyport-proxied': '1', 'x-real-ip': '203.0.113.1' }, '127.0.0.1'],
  ['::1', { 'x-sallyport-proxied': '0123456789abcdef.1', 'x-forwarded-for': '203.0.113.9' }, '::1'],
  // A trusted proxy appends; what the client wrote stands further left.
  ['10.0.0.1', { 'x-forwarded-for': '203.0.113.1' }, '203.0.113.1'],
  ['10.0.0.1', { 'x-forwarded-for': '127.0.0.1, 203.0.113.1' }, '203.0.113.1'],
  ['10.0.0.1', { 'x-forwarded-for': '127.0.0.1, 203.0.113.1, 10.2.2.2' }, '203.0.113.1'],
  ['10.0.0.1', { 'x-forwarded-for': '203.0.113.1,nonsense' }, '10.0.0.1'],
  ['10.0.0.1', { 'x-forwarded-for': '10.3.3.3' }, '10.3.3.3'],
  ['10.0.0.1', { 'x-real-ip': '203.0.113.1' }, '10.0.0.1'],
  ['10.0.0.1', {}, '10.0.0.1'],
] as const)('from %s with %j it is %s', (remoteAddress, headers, expected) => {
  expect(addressOf({ socket: { remoteAddress }, headers } as unknown as IncomingMessage)).toBe(expected);
});
