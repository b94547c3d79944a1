import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Never reached on a caller's behalf (spec, Limits): IANA's special-purpose registries, and cloud services beside them. */
const BLOCKED_RANGES = [
  '0.0.0.0/8', // "this network": Linux takes it for the own host
  '10.0.0.0/8',
  '100.64.0.0/10', // carrier NAT; a cloud's metadata service at 100.100.100.200
  '127.0.0.0/8',
  '168.63.129.16/32', // a cloud's host agent, on a public address
  '169.254.0.0/16', // link-local, with 169.254.169.254
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::ffff:0:0:0/96', // IPv4 translated by SIIT's first form (RFC 2765), retired
  '::/96', // unspecified, loopback, and the old IPv4-compatible form
  '64:ff9b:1::/48', // local NAT64: the embedded address can be anywhere in it
  '100::/64',
  '2001::/23', // protocol assignments, with Teredo and ORCHID
  '2001:db8::/32',
  '2002::/16', // 6to4: retired (RFC 7526), and it embeds any IPv4 address
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
] as const;

/** Names of metadata services; they resolve only inside a cloud, to addresses that may be anything there. */
const METADATA_NAMES = new Set(['metadata.google.internal', 'metadata.goog', 'metadata', 'instance-data']);

const blocked = new BlockList();
for (const range of BLOCKED_RANGES) {
  const [network = '', prefix = ''] = range.split('/');
  blocked.addSubnet(network, Number(prefix), network.includes(':') ? 'ipv6' : 'ipv4');
}

/** The prefix that translators put before public IPv4 addresses (RFC 6052, section 2.1). */
const NAT64 = ipaddr.IPv6.parse('64:ff9b::');

/** The IPv4 address behind an IPv6 one, when it stands for one. */
const embedded = (address: ipaddr.IPv6): string | undefined => {
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().toString();
  if (address.match(NAT64, 96)) return address.toByteArray().slice(12).join('.');
  return undefined;
};

/** Tells whether an IP address must not be connected to on a caller's behalf; anything that is no address is blocked too. */
export const isBlockedAddress = (text: string): boolean => {
  const bare = text.replace(/%.*$/, '');
  // Not ipaddr's own test: it reads the short and octal forms of inet_aton.
  if (isIP(bare) === 0) return true;
  const address = ipaddr.parse(bare);
  if (address.kind() === 'ipv4') return blocked.check(address.toString(), 'ipv4');
  const ipv4 = embedded(address as ipaddr.IPv6);
  return ipv4 === undefined ? blocked.check(address.toString(), 'ipv6') : isBlockedAddress(ipv4);
};

/**
 * Where clouds hand out credentials to whoever asks from inside, beside link-local addresses (RFC 3927, RFC 4291): services on IPv4 that sit
 * elsewhere, and those on IPv6, which sit in unique local networks (RFC 4193).
 */
const METADATA = new Set([
  '100.100.100.200', // Alibaba
  '168.63.129.16', // Azure
  '192.0.0.192', // Oracle, of old
  'fd00:100::100:200', // Alibaba
  'fd00:ec2::254', // AWS
  'fd00:ec2::23', // AWS, for pods
  'fd20:ce::254', // Google
  'fd00:c1::a9fe:a9fe', // Oracle
  'fd00:42::42', // Scaleway
  'fd00:a9fe:a9fe::1', // Akamai
]);

/** Tells whether an IP address, IPv4 also in its IPv6 forms, is link-local or a cloud's metadata service. */
export const isMetadataOrLinkLocal = (text: string): boolean => {
  // Most origins are IPv4, and a start asks this for every host.
  if (isIP(text) === 4) return text.startsWith('169.254.') || METADATA.has(text);
  const address = ipaddr.parse(text.replace(/%.*$/, '')) as ipaddr.IPv6;
  const ipv4 = embedded(address);
  if (ipv4 !== undefined) return isMetadataOrLinkLocal(ipv4);
  return address.range() === 'linkLocal' || METADATA.has(address.toString());
};

const bareName = (name: string): string => name.toLowerCase().replace(/\.+$/, '');

/** Tells whether a host name is that of a cloud's metadata service, whatever it resolves to. */
export const isMetadataName = (name: string): boolean => METADATA_NAMES.has(bareName(name));

/** Tells whether a host name must not be asked for, whatever it resolves to. */
export const isBlockedName = (name: string): boolean => {
  const bare = bareName(name);
  return METADATA_NAMES.has(bare) || bare === 'localhost' || bare.endsWith('.localhost');
};
