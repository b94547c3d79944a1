/** Appends SPOP's primitives to a buffer that grows as needed; `bytes[0..length)` is what has been written. */
export class ByteWriter {
  bytes: Buffer;
  length = 0;

  constructor(capacity = 1024) {
    this.bytes = Buffer.allocUnsafeSlow(capacity);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.bytes[this.length++] = value;
  }

  uint32(value: number): void {
    this.#reserve(4);
    this.length = this.bytes.writeUInt32BE(value, this.length);
  }

  /** An integer of 0–2^53-1 in HAProxy's "peers" encoding: one byte below 240, at most eight here. */
  varint(value: number): void {
    this.#reserve(10);
    const { bytes } = this;
    if (value < 240) {
      bytes[this.length++] = value;
      return;
    }
    bytes[this.length++] = 240 | (value % 16);
    let rest = Math.floor((value - 240) / 16);
    while (rest >= 128) {
      bytes[this.length++] = 128 | (rest % 128);
      rest = Math.floor((rest - 128) / 128);
    }
    bytes[this.length++] = rest;
  }

  /** As `varint`, for 0–2^64-1. */
  bigVarint(value: bigint): void {
    if (value <= Number.MAX_SAFE_INTEGER) {
      this.varint(Number(value));
      return;
    }
    this.#reserve(10);
    this.bytes[this.length++] = 240 | Number(value & 15n);
    let rest = (value - 240n) >> 4n;
    while (rest >= 128n) {
      this.bytes[this.length++] = 128 | Number(rest & 127n);
      rest = (rest - 128n) >> 7n;
    }
    this.bytes[this.length++] = Number(rest);
  }

  raw(source: Uint8Array): void {
    this.#reserve(source.length);
    this.bytes.set(source, this.length);
    this.length += source.length;
  }

  /** A length-prefixed run of bytes: the form of SPOP's names, strings and binaries. */
  prefixed(source: Uint8Array): void {
    this.varint(source.length);
    this.raw(source);
  }

  /** A length-prefixed UTF-8 string. */
  text(value: string): void {
    const size = Buffer.byteLength(value);
    this.varint(size);
    this.#reserve(size);
    this.length += this.bytes.write(value, this.length, size, 'utf8');
  }

  #reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2));
    this.bytes.copy(grown, 0, 0, this.length);
    this.bytes = grown;
  }
}
