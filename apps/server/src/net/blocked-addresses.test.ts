import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isBlockedAddress, isBlockedName, isMetadataName, isMetadataOrLinkLocal } from './blocked-addresses.ts';

/** First and last address of each range that no caller may have contacted, from IANA's registries. */
const BLOCKED = [
  ['0.0.0.0', '0.255.255.255'],
  ['10.0.0.0', '10.255.255.255'],
  ['100.64.0.0', '100.127.255.255'],
  ['127.0.0.0', '127.255.255.255'],
  ['169.254.0.0', '169.254.255.255'],
  ['172.16.0.0', '172.31.255.255'],
  ['192.0.0.0', '192.0.0.255'],
  ['192.0.2.0', '192.0.2.255'],
  ['192.168.0.0', '192.168.255.255'],
  ['198.18.0.0', '198.19.255.255'],
  ['198.51.100.0', '198.51.100.255'],
  ['203.0.113.0', '203.0.113.255'],
  ['224.0.0.0', '239.255.255.255'],
  ['240.0.0.0', '255.255.255.255'],
  ['::', '::1'],
  ['100::', '100::ffff:ffff:ffff:ffff'],
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
] as const;

const PUBLIC = [
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2a00:1450:4001:81b::200e',
  'fbff:ffff::1',
];

test.each(BLOCKED)('blocks %s to %s', (first, last) => {
  expect(isBlockedAddress(first)).toBe(true);
  expect(isBlockedAddress(last)).toBe(true);
});

test.each(PUBLIC)('lets %s through', (address) => {
  expect(isBlockedAddress(address)).toBe(false);
});

test.each([
  '169.254.169.254',
  '169.254.0.1',
  '::ffff:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  'fe80::a9fe:a9fe',
  'fe80::a9fe:a9fe%eth0',
  '100.100.100.200',
  '::ffff:6464:64c8',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:100::100:200',
  'fd00:ec2::254',
  'FD00:EC2:0:0:0:0:0:254',
  'fd00:ec2::23',
  'fd20:ce::254',
  'fd00:c1::a9fe:a9fe',
  'fd00:42::42',
  'fd00:a9fe:a9fe::1',
])('blocks the metadata service at %s, for administrators too', (address) => {
  expect(isBlockedAddress(address)).toBe(true);
  expect(isMetadataOrLinkLocal(address)).toBe(true);
});

test.each([
  '10.0.0.1',
  '127.0.0.1',
  '100.100.100.201',
  '169.253.255.255',
  '169.255.0.0',
  '::1',
  'fd00:ec2::1',
  '::ffff:10.0.0.1',
])('lets an administrator use %s', (address) => expect(isMetadataOrLinkLocal(address)).toBe(false));

test('blocks 192.88.99.0/24 and 168.63.129.16 only, of the networks around them', () => {
  for (const address of ['192.88.99.0', '192.88.99.255', '168.63.129.16']) expect(isBlockedAddress(address)).toBe(true);
  for (const address of ['192.88.98.255', '192.88.100.0', '168.63.129.15', '168.63.129.17'])
    expect(isBlockedAddress(address)).toBe(false);
});

test.each([
  'metadata.google.internal',
  'METADATA.google.INTERNAL.',
  'metadata.goog',
  'metadata',
  'instance-data',
  'localhost',
  'a.localhost.',
])('blocks the name %s', (name) => expect(isBlockedName(name)).toBe(true));

test.each([
  ['metadata.google.internal', true],
  ['Metadata.Google.Internal..', true],
  ['localhost', false],
  ['metadata.example.com', false],
])('%s is the name of a metadata service: %s', (name, is) => expect(isMetadataName(name)).toBe(is));

test.each(['example.com', 'localhost.example.com', 'metadata.google.internal.example.com'])(
  'knows no harm of %s',
  (name) => expect(isBlockedName(name)).toBe(false),
);

test.each(['', 'example.com', '1.2.3', '127.1', '010.0.0.1', '0x7f.1', '::g', '10.0.0.0/8'])(
  'blocks "%s", which is no address',
  (text) => {
    expect(isBlockedAddress(text)).toBe(true);
  },
);

const hex = (a = 0, b = 0) => ((a << 8) | b).toString(16);

test('judges an IPv4 address the same, however it is wrapped in IPv6', () => {
  const octet = fc.nat(255);
  fc.assert(
    fc.property(fc.tuple(octet, octet, octet, octet), ([a, b, c, d]) => {
      const bare = isBlockedAddress([a, b, c, d].join('.'));
      const low = `${hex(a, b)}:${hex(c, d)}`;
      for (const wrapped of [`::ffff:${a}.${b}.${c}.${d}`, `::ffff:${low}`, `64:ff9b::${low}`, `::ffff:${low}%eth0`]) {
        expect(isBlockedAddress(wrapped), wrapped).toBe(bare);
      }
      // Forms that no public service is reached by.
      for (const wrapped of [
        `2002:${low}::1`,
        `::${low}`,
        `::ffff:0:${low}`,
        `64:ff9b:1::${low}`,
        `2001:0:${low}::1`,
      ]) {
        expect(isBlockedAddress(wrapped), wrapped).toBe(true);
      }
    }),
  );
});
