import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An IP network; a single address is its /32 or /128. IPv4-mapped IPv6 is IPv4. */
export interface Network {
  readonly family: 'ipv4' | 'ipv6';
  /** First address as a number, host bits cleared. */
  readonly first: bigint;
  readonly last: bigint;
  readonly prefix: number;
}

/** Text that is no IP network; the message says why, for the operator. */
export class InvalidNetwork extends Error {
  override name = 'InvalidNetwork';
}

const WIDTH = { ipv4: 32, ipv6: 128 } as const;
/** Prefix length of ::ffff:0:0/96, which holds the IPv4-mapped addresses (RFC 4291, section 2.5.5.2). */
const MAPPED_PREFIX = 96;

const toNumber = (bytes: readonly number[]): bigint => bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);

const shown = (text: string) => JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);

/**
 * Parses `address` or `address/prefix`; host bits are cleared. Throws `InvalidNetwork`.
 * IPv4 only in its four-part decimal form: `010.1` or `0x7f.1` mean different networks to different programs.
 */
export const parseNetwork = (text: string): Network => {
  const trimmed = text.trim();
  const slash = trimmed.indexOf('/');
  const address = slash === -1 ? trimmed : trimmed.slice(0, slash);
  const prefixText = slash === -1 ? undefined : trimmed.slice(slash + 1);
  if (isIP(address) === 0 || address.includes('%')) {
    throw new InvalidNetwork(`${shown(text)} is not an IP address or CIDR range`);
  }
  const parsed = ipaddr.process(address);
  const family = parsed.kind();
  const isMapped = family === 'ipv4' && address.includes(':');
  const width = WIDTH[family];
  if (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText)) {
    throw new InvalidNetwork(`${shown(text)} has no valid prefix length after the slash`);
  }
  const prefix = prefixText === undefined ? width : Number(prefixText) - (isMapped ? MAPPED_PREFIX : 0);
  if (prefix < 0 || prefix > width) {
    const [least, most] = isMapped ? [MAPPED_PREFIX, 128] : [0, width];
    throw new InvalidNetwork(`${shown(text)} has a prefix length outside ${least}–${most}`);
  }
  const hostBits = BigInt(width - prefix);
  const first = (toNumber(parsed.toByteArray()) >> hostBits) << hostBits;
  return { family, first, last: first + (1n << hostBits) - 1n, prefix };
};

const toBytes = (value: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, index) => Number((value >> BigInt(8 * (count - 1 - index))) & 0xffn));

/** Writes a network in canonical form (RFC 5952 for IPv6); a single address is written without its prefix length. */
export const formatNetwork = ({ family, first, prefix }: Network): string => {
  const width = WIDTH[family];
  const parsed = ipaddr.fromByteArray(toBytes(first, width / 8));
  const address = parsed instanceof ipaddr.IPv6 ? parsed.toRFC5952String() : parsed.toString();
  return prefix === width ? address : `${address}/${prefix}`;
};
