import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import { ProtocolError, Status } from './status.ts';

/** The types of SPOP's typed data, at their numbers on the wire (doc/SPOE.txt 3.1). */
export const DATA_TYPES = [
  'null',
  'boolean',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'ipv4',
  'ipv6',
  'string',
  'binary',
] as const;
/** A typed value of the protocol, by name (SPOE.txt, 3.1). */
export type DataType = (typeof DATA_TYPES)[number];

/** Bytes with an explicit SPOP type: 4 bytes for ipv4, 16 for ipv6, any number for string and binary. */
export type TypedBytes = { type: 'ipv4' | 'ipv6' | 'string' | 'binary'; bytes: Uint8Array };

/** What an action may carry: numbers must be integers (-2^63 to 2^63-1), a string is sent as UTF-8, bytes as binary. */
export type ActionValue = boolean | number | bigint | string | Uint8Array | TypedBytes;

/** Typed data as read: `scalar` for null, boolean and integers; `start` and `end` bound the bytes of all other types. */
export type TypedData = {
  type: DataType;
  scalar: null | boolean | number | bigint;
  start: number;
  end: number;
};

const BOOLEAN_TRUE = 0x10;
const TYPE = { boolean: 1, int32: 2, int64: 4, ipv4: 6, ipv6: 7, string: 8, binary: 9 } as const;

const narrow = (value: bigint): number | bigint =>
  value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;

const signed64 = (value: number | bigint): number | bigint =>
  typeof value === 'number' ? value : narrow(BigInt.asIntN(64, value));

// HAProxy sign-extends to 64 bits before it encodes, so a 32-bit value is the low half of what was read.
const low32 = (value: number | bigint): number =>
  typeof value === 'number' ? value % 2 ** 32 : Number(BigInt.asUintN(32, value));

/** Reads one typed value into `into` (an object to reuse or keep). Throws ProtocolError on a reserved type or a short range. */
export const readTypedData = (reader: ByteReader, into: TypedData): void => {
  const head = reader.byte();
  const type = DATA_TYPES[head & 15];
  if (type === undefined) throw new ProtocolError(Status.invalidFrame, 'typed data of a reserved type');
  into.type = type;
  into.scalar = null;
  into.start = into.end = reader.position;
  switch (type) {
    case 'null':
      return;
    case 'boolean':
      into.scalar = (head & BOOLEAN_TRUE) !== 0;
      return;
    case 'int32':
      into.scalar = low32(reader.integer()) | 0;
      break;
    case 'uint32':
      into.scalar = low32(reader.integer()) >>> 0;
      break;
    case 'int64':
      into.scalar = signed64(reader.integer());
      break;
    case 'uint64':
      into.scalar = reader.integer();
      break;
    case 'ipv4':
      reader.skip(4);
      break;
    case 'ipv6':
      reader.skip(16);
      break;
    case 'string':
    case 'binary': {
      const length = reader.varint();
      into.start = reader.skip(length);
      break;
    }
    default:
      throw new Error(`unknown type ${type satisfies never}`);
  }
  into.end = reader.position;
};

const writeInteger = (writer: ByteWriter, value: number | bigint): void => {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new RangeError('SPOP has integers only');
  const isSmall = value >= -(2 ** 31) && value < 2 ** 31;
  if (!isSmall && (value < -(2n ** 63n) || value >= 2n ** 63n)) throw new RangeError('integer is longer than 64 bits');
  writer.byte(isSmall ? TYPE.int32 : TYPE.int64);
  if (typeof value === 'number' && value >= 0) writer.varint(value);
  else writer.bigVarint(BigInt.asUintN(64, BigInt(value)));
};

/** Appends one typed value. Throws RangeError for a fraction, an integer past 64 bits or an address of the wrong size. */
export const writeTypedData = (writer: ByteWriter, value: ActionValue): void => {
  if (typeof value === 'boolean') writer.byte(value ? TYPE.boolean | BOOLEAN_TRUE : TYPE.boolean);
  else if (typeof value === 'number' || typeof value === 'bigint') writeInteger(writer, value);
  else if (typeof value === 'string') {
    writer.byte(TYPE.string);
    writer.text(value);
  } else if (value instanceof Uint8Array) {
    writer.byte(TYPE.binary);
    writer.prefixed(value);
  } else if (value.type === 'string' || value.type === 'binary') {
    writer.byte(TYPE[value.type]);
    writer.prefixed(value.bytes);
  } else {
    const size = value.type === 'ipv4' ? 4 : 16;
    if (value.bytes.length !== size) throw new RangeError(`${value.type} takes ${size} bytes`);
    writer.byte(TYPE[value.type]);
    writer.raw(value.bytes);
  }
};
