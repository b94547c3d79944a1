/** Node's own conversion, which works on any Uint8Array but is only typed on Buffer, and there not at all. */
const latin1Slice = (
  Buffer.prototype as unknown as { latin1Slice(this: Uint8Array, start: number, end: number): string }
).latin1Slice;

/** Bytes [start, end) as a Latin-1 string: one char per byte. */
export const latin1 = (buf: Uint8Array, start = 0, end = buf.length): string =>
  start === end ? '' : latin1Slice.call(buf, start, end);

/** A copy of its own: `slice` of a Buffer would be a view that keeps the whole request in memory. */
export const copyOf = (buf: Uint8Array, start: number, end: number): Uint8Array => {
  const copy = new Uint8Array(end - start);
  if (end - start > 32) copy.set(buf.subarray(start, end));
  else for (let at = start; at < end; at++) copy[at - start] = buf[at]!;
  return copy;
};

/** A Latin-1 string as bytes; chars above 255 lose their high part. */
export const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** C's atoi on a Latin-1 string: leading blanks, a sign, digits; 0 when there are none, clamped to 2^53. */
export const atoi = (text: string): number => {
  let at = 0;
  let code = text.charCodeAt(0);
  while (code === 32 || (code >= 9 && code <= 13)) code = text.charCodeAt(++at);
  const isNegative = code === 45;
  if (isNegative || code === 43) code = text.charCodeAt(++at);
  let value = 0;
  while (code >= 48 && code <= 57) {
    value = Math.min(value * 10 + code - 48, Number.MAX_SAFE_INTEGER);
    code = text.charCodeAt(++at);
  }
  return isNegative ? -value : value;
};
