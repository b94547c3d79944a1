/** Bytes [start, end) as a Latin-1 string: one char per byte. */
export const latin1 = (buf: Uint8Array, start = 0, end = buf.length): string => {
  if (end - start < 24) {
    let text = '';
    for (let at = start; at < end; at++) text += String.fromCharCode(buf[at]!);
    return text;
  }
  return Buffer.from(buf.buffer, buf.byteOffset + start, end - start).toString('latin1');
};

/** A Latin-1 string as bytes; chars above 255 lose their high part. */
export const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'latin1');

/** C's atoi on a Latin-1 string: leading blanks, a sign, digits; 0 when there are none, clamped to 2^53. */
export const atoi = (text: string): number => {
  const digits = /^[\t-\r ]*([+-]?\d+)/.exec(text);
  if (digits === null) return 0;
  const value = Number(digits[1]);
  return Number.isSafeInteger(value) ? value : Math.sign(value) * Number.MAX_SAFE_INTEGER;
};
