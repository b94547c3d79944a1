import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An IP network in canonical form. A bare address is its /32 or /128. */
export class Cidr {
  readonly network: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';

  private constructor(network: string, prefix: number, family: 'ipv4' | 'ipv6') {
    this.network = network;
    this.prefix = prefix;
    this.family = family;
  }

  /**
   * Parses `address` or `address/prefix`; host bits are cleared, IPv6 is compressed, IPv4-mapped IPv6 becomes IPv4.
   * Throws an `Error` that names the text. Only the standard dotted form of IPv4 is read: `010.1` is refused.
   */
  static parse(this: void, text: string): Cidr {
    const [address = '', prefixText, ...rest] = text.trim().split('/');
    if (rest.length > 0 || isIP(address) === 0 || (prefixText !== undefined && !/^\d{1,3}$/.test(prefixText))) {
      throw new Error(`"${text}" is not an IP address or CIDR range`);
    }
    const parsed = ipaddr.process(address.replace(/%.*$/, ''));
    const family = parsed.kind();
    const isMapped = family === 'ipv4' && address.includes(':');
    const width = family === 'ipv4' ? 32 : 128;
    const prefix = prefixText === undefined ? width : Number(prefixText) - (isMapped ? 96 : 0);
    if (prefix < 0 || prefix > width) throw new Error(`"${text}" has a prefix outside 0–${width}`);
    const network =
      family === 'ipv4'
        ? ipaddr.IPv4.networkAddressFromCIDR(`${parsed.toString()}/${prefix}`)
        : ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${prefix}`);
    return new Cidr(network.toString(), prefix, family);
  }

  toString(): string {
    return `${this.network}/${this.prefix}`;
  }
}

/** Makes a membership test over many networks; it takes an address in any form, IPv4-mapped IPv6 included. */
export const cidrSet = (cidrs: readonly Cidr[]): ((address: string) => boolean) => {
  const list = new BlockList();
  for (const { network, prefix, family } of cidrs) list.addSubnet(network, prefix, family);
  return (address) => {
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
  };
};
