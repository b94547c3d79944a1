import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';

type Decode = (body: Uint8Array, options: { maxOutputLength: number }) => Uint8Array;

/** RFC 9110 means zlib by deflate, and some clients send it without zlib's frame. */
const inflateEither: Decode = (body, options) => {
  const isZlib = (body[0]! & 0x0f) === 8 && ((body[0]! << 8) | body[1]!) % 31 === 0;
  return isZlib ? inflateSync(body, options) : inflateRawSync(body, options);
};

const decoders: Readonly<Record<string, Decode>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateEither,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** Codings one over another; nobody sends more, but for a bomb. */
const mostCodings = 2;

/** A body without its content codings, or why they could not be undone; `tooLong`: there is more than `most` bytes in it. */
export type Decoded = { readonly bytes: Uint8Array } | { readonly error: string } | { readonly tooLong: true };

/** Undoes the codings that Content-Encoding names, last one first, into at most `most` bytes. Never throws. */
export const undoContentCodings = (body: Uint8Array, header: string, most: number): Decoded => {
  const codings = header
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > mostCodings) return { error: 'More content codings than are undone here' };
  let bytes = body;
  for (const coding of codings.reverse()) {
    if (!Object.hasOwn(decoders, coding)) return { error: 'A content coding that is not known here' };
    try {
      bytes = decoders[coding]!(bytes, { maxOutputLength: Math.max(1, most) });
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return { tooLong: true };
      return { error: `The body is not ${coding}` };
    }
  }
  return { bytes };
};
