import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type WireValue, writeWireValue } from '../test/proxy-side.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { type ActionValue, readTypedData, type TypedData, writeTypedData } from './typed-data.ts';

const written = (write: (writer: ByteWriter) => void): Uint8Array => {
  const writer = new ByteWriter(1);
  write(writer);
  return writer.bytes.subarray(0, writer.length);
};
const empty = (): TypedData => ({ type: 'null', scalar: null, start: 0, end: 0 });
const read = (bytes: Uint8Array) => {
  const data = empty();
  const reader = new ByteReader(bytes, 0, bytes.length);
  readTypedData(reader, data);
  expect(reader.position).toBe(bytes.length);
  return data;
};

describe('integers', () => {
  // The table of doc/SPOE.txt 3.1: where each length begins and ends.
  test.each([
    [0, [0]],
    [239, [239]],
    [240, [0xf0, 0]],
    [2287, [0xff, 0x7f]],
    [2288, [0xf0, 0x80, 0]],
    [264431, [0xff, 0xff, 0x7f]],
    [264432, [0xf0, 0x80, 0x80, 0]],
    [33818863, [0xff, 0xff, 0xff, 0x7f]],
    [33818864, [0xf0, 0x80, 0x80, 0x80, 0]],
    [4328786159, [0xff, 0xff, 0xff, 0xff, 0x7f]],
  ])('%d is encoded as the protocol says', (value, bytes) => {
    expect([...written((writer) => writer.varint(value))]).toEqual(bytes);
    expect(new ByteReader(Uint8Array.from(bytes), 0, bytes.length).varint()).toBe(value);
  });

  test('every 64-bit value comes back, in both ways to write it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const bytes = written((writer) => writer.bigVarint(value));
        expect(BigInt(new ByteReader(bytes, 0, bytes.length).integer())).toBe(value);
      }),
    );
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        const bytes = written((writer) => writer.varint(value));
        expect(bytes).toEqual(written((writer) => writer.bigVarint(BigInt(value))));
        expect(new ByteReader(bytes, 0, bytes.length).integer()).toBe(value);
      }),
    );
  });

  test('more than 64 bits are refused', () => {
    const endless = new Uint8Array(64).fill(0xff);
    expect(() => new ByteReader(endless, 0, 64).integer()).toThrow('64 bits');
    const tenBytes = Uint8Array.from([...new Uint8Array(9).fill(0xff), 0x7f]);
    expect(() => new ByteReader(tenBytes, 0, 10).integer()).toThrow('64 bits');
  });

  test('a length past 2^53 is refused instead of rounded', () => {
    const bytes = written((writer) => writer.bigVarint(2n ** 53n));
    expect(() => new ByteReader(bytes, 0, bytes.length).varint()).toThrow('out of range');
  });
});

const wireValue: fc.Arbitrary<WireValue> = fc.oneof(
  fc.constant<WireValue>({ type: 'null' }),
  fc.boolean().map((value): WireValue => ({ type: 'boolean', value })),
  fc.bigInt({ min: -(2n ** 31n), max: 2n ** 31n - 1n }).map((value): WireValue => ({ type: 'int32', value })),
  fc.bigInt({ min: 0n, max: 2n ** 32n - 1n }).map((value): WireValue => ({ type: 'uint32', value })),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value): WireValue => ({ type: 'int64', value })),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value): WireValue => ({ type: 'uint64', value })),
  fc.uint8Array({ minLength: 4, maxLength: 4 }).map((bytes): WireValue => ({ type: 'ipv4', bytes })),
  fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes): WireValue => ({ type: 'ipv6', bytes })),
  fc.uint8Array({ maxLength: 5000 }).map((bytes): WireValue => ({ type: 'string', bytes })),
  fc.uint8Array({ maxLength: 5000 }).map((bytes): WireValue => ({ type: 'binary', bytes })),
);

test('reads every type as HAProxy writes it', () => {
  fc.assert(
    fc.property(wireValue, (value) => {
      const bytes = written((writer) => writeWireValue(writer, value));
      const data = read(bytes);
      expect(data.type).toBe(value.type);
      if ('bytes' in value) expect(Buffer.compare(bytes.subarray(data.start, data.end), value.bytes)).toBe(0);
      else if (value.type === 'boolean') expect(data.scalar).toBe(value.value);
      else if (value.type !== 'null') expect(BigInt(data.scalar as number | bigint)).toBe(value.value);
    }),
  );
});

test('actions carry every value unchanged', () => {
  const integer = fc.oneof(fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
  fc.assert(
    fc.property(
      fc.oneof(integer, fc.boolean(), fc.string(), fc.uint8Array({ maxLength: 3000 })),
      (value: ActionValue) => {
        const bytes = written((writer) => writeTypedData(writer, value));
        const data = read(bytes);
        const content = Buffer.from(bytes.subarray(data.start, data.end));
        if (typeof value === 'boolean') expect(data.scalar).toBe(value);
        else if (typeof value === 'string') expect(content.toString()).toBe(Buffer.from(value).toString());
        else if (value instanceof Uint8Array) expect(content.equals(value)).toBe(true);
        else expect(BigInt(data.scalar as number | bigint)).toBe(BigInt(value as number | bigint));
      },
    ),
  );
});

test.each([-(2 ** 31) - 1, -(2 ** 31), 2 ** 31 - 1, 2 ** 31, 2 ** 32, -(2 ** 32)])('%d keeps its value', (value) => {
  expect(read(written((writer) => writeTypedData(writer, value))).scalar).toBe(value);
});

test.each([1.5, Number.NaN, 2 ** 53, 2n ** 63n, -(2n ** 63n) - 1n])('refuses to send %s', (value) => {
  expect(() => written((writer) => writeTypedData(writer, value))).toThrow(RangeError);
});

test('refuses an address of the wrong size', () => {
  expect(() => written((w) => writeTypedData(w, { type: 'ipv6', bytes: new Uint8Array(4) }))).toThrow('16 bytes');
});

test.each([10, 11, 12, 13, 14, 15])('refuses the reserved type %d', (type) => {
  expect(() => read(Uint8Array.of(type, 0))).toThrow('reserved type');
});
