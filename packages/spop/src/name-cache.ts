const MAX_NAMES = 512;
const MAX_NAME_LENGTH = 64;

/** Turns a byte range into a string, giving the same string again for the same bytes. */
export type NameCache = (bytes: Uint8Array, start: number, end: number) => string;

/**
 * Makes a bounded cache of message and argument names. Every NOTIFY repeats the few names of the SPOE configuration,
 * and comparing bytes is several times cheaper than decoding a new string each time. Past 512 names it only decodes.
 */
export const createNameCache = (): NameCache => {
  const buckets: { bytes: Uint8Array; text: string }[][] = Array.from({ length: 256 }, () => []);
  let count = 0;

  return (bytes, start, end) => {
    const length = end - start;
    if (length === 0) return '';
    const middle = bytes[start + (length >> 1)]!;
    const bucket = buckets[(length * 31 + bytes[start]! * 7 + middle * 5 + bytes[end - 1]! * 13) & 255]!;
    search: for (const entry of bucket) {
      const known = entry.bytes;
      if (known.length !== length) continue;
      for (let i = 0; i < length; i++) if (known[i] !== bytes[start + i]) continue search;
      return entry.text;
    }
    // A copy: the view would keep the whole received chunk alive.
    const copy = new Uint8Array(bytes.subarray(start, end));
    const text = Buffer.from(copy.buffer).toString('latin1');
    if (count < MAX_NAMES && length <= MAX_NAME_LENGTH) {
      bucket.push({ bytes: copy, text });
      count++;
    }
    return text;
  };
};
