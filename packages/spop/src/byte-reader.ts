import { ProtocolError, Status } from './status.ts';

const truncated = () => new ProtocolError(Status.invalidFrame, 'frame ends in the middle of a value');

const MAX_UINT64 = (1n << 64n) - 1n;

/**
 * Reads SPOP's primitives from `bytes[position..end)` without copying.
 * Every method throws ProtocolError (status 4) when the range ends too early.
 */
export class ByteReader {
  readonly bytes: Uint8Array;
  readonly end: number;
  position: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.bytes = bytes;
    this.position = start;
    this.end = end;
  }

  /** One byte, 0–255. */
  byte(): number {
    if (this.position >= this.end) throw truncated();
    return this.bytes[this.position++]!;
  }

  /** Four bytes in network order, 0–2^32-1. */
  uint32(): number {
    const at = this.skip(4);
    const { bytes } = this;
    return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
  }

  /** Moves past `count` bytes and gives the offset at which they start. */
  skip(count: number): number {
    const at = this.position;
    if (count > this.end - at) throw truncated();
    this.position = at + count;
    return at;
  }

  /**
   * A variable-length integer (HAProxy's "peers" encoding) as an exact number, or as a bigint past 2^53-1.
   * Throws ProtocolError past 2^64-1.
   */
  integer(): number | bigint {
    const start = this.position;
    let value = this.byte();
    if (value < 240) return value;
    let factor = 16;
    for (;;) {
      const byte = this.byte();
      value += byte * factor;
      if (byte < 128) break;
      factor *= 128;
      // The tenth byte is the last that can carry bits of a 64-bit value.
      if (this.position - start >= 10) throw new ProtocolError(Status.invalidFrame, 'integer is longer than 64 bits');
    }
    return value <= Number.MAX_SAFE_INTEGER ? value : this.#exact(start);
  }

  /** A variable-length integer that must be a length or an identifier; throws ProtocolError past 2^53-1. */
  varint(): number {
    const value = this.integer();
    if (typeof value === 'bigint') throw new ProtocolError(Status.invalidFrame, 'length or identifier out of range');
    return value;
  }

  #exact(start: number): bigint {
    let value = BigInt(this.bytes[start]!);
    let shift = 4n;
    for (let at = start + 1; at < this.position; at++, shift += 7n) value += BigInt(this.bytes[at]!) << shift;
    if (value > MAX_UINT64) throw new ProtocolError(Status.invalidFrame, 'integer is longer than 64 bits');
    return value;
  }
}
