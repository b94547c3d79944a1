/** Bytes of the well-formed UTF-8 sequence of more than one byte at `at`, or 0. */
export const sequenceLength = (buf: Uint8Array, at: number): number => {
  const lead = buf[at]!;
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + size > buf.length) return 0;
  for (let i = 1; i < size; i++) if ((buf[at + i]! & 0xc0) !== 0x80) return 0;
  const second = buf[at + 1]!;
  if ((lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f)) return 0;
  if ((lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f)) return 0;
  return size;
};

/** Writes a code point to out[at..]; answers where it ends there. */
export const writeCodePoint = (code: number, out: Uint8Array, at: number): number => {
  if (code < 0x80) {
    out[at++] = code;
  } else if (code < 0x800) {
    out[at++] = 0xc0 | (code >> 6);
    out[at++] = 0x80 | (code & 0x3f);
  } else if (code < 0x10000) {
    out[at++] = 0xe0 | (code >> 12);
    out[at++] = 0x80 | ((code >> 6) & 0x3f);
    out[at++] = 0x80 | (code & 0x3f);
  } else {
    out[at++] = 0xf0 | (code >> 18);
    out[at++] = 0x80 | ((code >> 12) & 0x3f);
    out[at++] = 0x80 | ((code >> 6) & 0x3f);
    out[at++] = 0x80 | (code & 0x3f);
  }
  return at;
};
