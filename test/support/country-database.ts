import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * The MaxMind DB format (specification 2.0), as far as a database of countries needs it: a binary tree over the bits
 * of IPv6 addresses (IPv4 below ::/96), records of 24 bits, a data section of small maps, and the metadata.
 */
const TYPE = { string: 2, uint16: 5, uint32: 6, map: 7, uint64: 9, array: 11 } as const;
type Value = string | Value[] | { [key: string]: Value } | { type: keyof typeof TYPE; value: number };

const control = (type: number, size: number): Buffer => {
  if (size > 28) throw new Error('only small values are written');
  return type <= 7 ? Buffer.from([(type << 5) | size]) : Buffer.from([size, type - 7]);
};

const isNumber = (value: Value): value is { type: keyof typeof TYPE; value: number } =>
  typeof value === 'object' && !Array.isArray(value) && typeof value.value === 'number';

const encode = (value: Value): Buffer => {
  if (typeof value === 'string') return Buffer.concat([control(TYPE.string, value.length), Buffer.from(value)]);
  if (Array.isArray(value)) return Buffer.concat([control(TYPE.array, value.length), ...value.map(encode)]);
  if (isNumber(value)) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(value.value));
    const size = value.type === 'uint16' ? 2 : value.type === 'uint32' ? 4 : 8;
    return Buffer.concat([control(TYPE[value.type], size), bytes.subarray(8 - size)]);
  }
  const entries = Object.entries(value);
  return Buffer.concat([
    control(TYPE.map, entries.length),
    ...entries.flatMap(([key, item]) => [encode(key), encode(item)]),
  ]);
};

interface Node {
  children: [Node | number | undefined, Node | number | undefined];
}

const bitsOf = (network: string): number[] => {
  const [address = '', prefix = ''] = network.split('/');
  const bytes = address.split('.').map(Number);
  const bits = bytes.flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((bit) => (byte >> bit) & 1));
  return [...Array.from({ length: 96 }, () => 0), ...bits.slice(0, Number(prefix))];
};

/** Writes a country database for IPv4 networks that don't overlap, with records of the form `toRecord` makes. */
export const writeCountryDatabase = (
  path: string,
  countries: Readonly<Record<string, string>>,
  toRecord: (code: string) => Value,
): void => {
  const root: Node = { children: [undefined, undefined] };
  const nodes = [root];
  const data: Buffer[] = [];
  let dataBytes = 0;
  for (const [network, code] of Object.entries(countries)) {
    const bits = bitsOf(network);
    let node = root;
    for (const bit of bits.slice(0, -1)) {
      let next = node.children[bit as 0 | 1];
      if (typeof next !== 'object') {
        next = { children: [undefined, undefined] };
        node.children[bit as 0 | 1] = next;
        nodes.push(next);
      }
      node = next;
    }
    node.children[bits.at(-1) as 0 | 1] = dataBytes;
    const record = encode(toRecord(code));
    data.push(record);
    dataBytes += record.length;
  }
  const pointer = (child: Node | number | undefined): number => {
    if (child === undefined) return nodes.length;
    return typeof child === 'number' ? nodes.length + 16 + child : nodes.indexOf(child);
  };
  const tree = Buffer.alloc(nodes.length * 6);
  for (const [index, { children }] of nodes.entries()) {
    tree.writeUIntBE(pointer(children[0]), index * 6, 3);
    tree.writeUIntBE(pointer(children[1]), index * 6 + 3, 3);
  }
  const metadata = encode({
    binary_format_major_version: { type: 'uint16', value: 2 },
    binary_format_minor_version: { type: 'uint16', value: 0 },
    build_epoch: { type: 'uint64', value: 1_790_000_000 },
    database_type: 'Country',
    description: { en: 'test' },
    ip_version: { type: 'uint16', value: 6 },
    languages: ['en'],
    node_count: { type: 'uint32', value: nodes.length },
    record_size: { type: 'uint16', value: 24 },
  });
  mkdirSync(dirname(path), { recursive: true });
  const marker = Buffer.concat([Buffer.from('abcdef', 'hex'), Buffer.from('MaxMind.com')]);
  writeFileSync(path, Buffer.concat([tree, Buffer.alloc(16), ...data, marker, metadata]));
};
