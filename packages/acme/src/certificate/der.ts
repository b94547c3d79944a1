/** One value of DER: its tag, and where its content lies. */
export interface Tlv {
  tag: number;
  content: Buffer;
}

/** The values that lie one after the other in `bytes`; throws a `RangeError` where they are cut short, or are not DER. */
export const readDer = (bytes: Buffer): Tlv[] => {
  const values: Tlv[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes.readUInt8(at);
    let length = bytes.readUInt8(at + 1);
    at += 2;
    if (length >= 0x80) {
      const size = length & 0x7f;
      if (size === 0 || size > 4) throw new RangeError('a length that is not DER');
      length = bytes.readUIntBE(at, size);
      at += size;
    }
    if (at + length > bytes.length) throw new RangeError('a value that is cut short');
    values.push({ tag, content: bytes.subarray(at, at + length) });
    at += length;
  }
  return values;
};
