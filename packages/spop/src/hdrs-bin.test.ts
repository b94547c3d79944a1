import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteWriter } from './byte-writer.ts';
import { decodeHdrsBin, visitHdrsBin } from './hdrs-bin.ts';
import { ProtocolError, Status } from './status.ts';

const encode = (headers: [Uint8Array, Uint8Array][]): Buffer => {
  const writer = new ByteWriter();
  for (const [name, value] of [...headers, [new Uint8Array(), new Uint8Array()] as const]) {
    writer.prefixed(name);
    writer.prefixed(value);
  }
  return Buffer.from(writer.bytes.subarray(0, writer.length));
};

const headerList = fc.array(
  fc.tuple(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.uint8Array({ maxLength: 3000 })),
  { maxLength: 20 },
);

test('gives the headers in order, as views of the bytes handed in', () => {
  fc.assert(
    fc.property(headerList, (headers) => {
      const bytes = encode(headers);
      const decoded = decodeHdrsBin(bytes);
      expect(decoded.map(([name, value]) => [[...name], [...value]])).toEqual(
        headers.map(([name, value]) => [[...name], [...value]]),
      );
      for (const [name] of decoded) expect(name.buffer).toBe(bytes.buffer);
    }),
  );
});

test('visits a range in the middle of a larger buffer', () => {
  const sample = encode([[Buffer.from('host'), Buffer.from('example.test')]]);
  const buffer = Buffer.concat([Buffer.from('before'), sample, Buffer.from('after')]);
  const seen: string[] = [];
  visitHdrsBin(buffer, 6, 6 + sample.length, (...range) => {
    seen.push(buffer.toString('latin1', range[0], range[1]), buffer.toString('latin1', range[2], range[3]));
  });
  expect(seen).toEqual(['host', 'example.test']);
});

describe('refuses', () => {
  test('every way to cut a sample short', () => {
    const bytes = encode([
      [Buffer.from('host'), Buffer.from('example.test')],
      [Buffer.from('cookie'), Buffer.alloc(400, 'a')],
    ]);
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decodeHdrsBin(bytes.subarray(0, length)), `${length} bytes`).toThrow(ProtocolError);
    }
  });

  test('bytes after the closing pair', () => {
    const refusal = {
      name: 'ProtocolError',
      status: Status.invalidFrame,
      message: 'bytes after the end of the headers',
    };
    expect(() => decodeHdrsBin(Buffer.from([0, 0, 0]))).toThrow(expect.objectContaining(refusal));
  });

  test('a header without a name', () => {
    expect(() => decodeHdrsBin(Buffer.from([0, 1, 0x41, 0, 0]))).toThrow('without a name');
  });

  test('random bytes, or reads them within their bounds', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), (bytes) => {
        try {
          for (const [name, value] of decodeHdrsBin(bytes)) {
            expect(name.length + value.length).toBeLessThanOrEqual(bytes.length);
          }
        } catch (error) {
          expect(error).toBeInstanceOf(ProtocolError);
        }
      }),
    );
  });
});
