/** Encodings of text whose ASCII characters are not ASCII bytes, as far as their first bytes tell (RFC 4627, section 3). */
type WideEncoding = { readonly unit: 2 | 4; readonly isBigEndian: boolean; readonly markBytes: number };

const isAt = (body: Uint8Array, ...bytes: readonly number[]): boolean =>
  body.length >= bytes.length && bytes.every((byte, at) => body[at] === byte);

/** Whether the units at the start of the body all stand for ASCII characters. */
const isAsciiIn = (body: Uint8Array, unit: 2 | 4, isBigEndian: boolean): boolean => {
  const end = Math.min(body.length - (body.length % unit), 64);
  if (end < unit * 2) return false;
  for (let at = 0; at < end; at++) {
    const isLow = at % unit === (isBigEndian ? unit - 1 : 0);
    if (isLow ? body[at] === 0 || body[at]! >= 0x80 : body[at] !== 0) return false;
  }
  return true;
};

const detect = (body: Uint8Array): WideEncoding | null => {
  if (isAt(body, 0xff, 0xfe, 0, 0)) return { unit: 4, isBigEndian: false, markBytes: 4 };
  if (isAt(body, 0, 0, 0xfe, 0xff)) return { unit: 4, isBigEndian: true, markBytes: 4 };
  if (isAt(body, 0xff, 0xfe)) return { unit: 2, isBigEndian: false, markBytes: 2 };
  if (isAt(body, 0xfe, 0xff)) return { unit: 2, isBigEndian: true, markBytes: 2 };
  for (const unit of [4, 2] as const) {
    for (const isBigEndian of [false, true]) {
      // Parsers of JSON look at its first two characters only; whatever follows may be of any script.
      const first = body[isBigEndian ? unit - 1 : 0]!;
      const seen = first === 0x7b || first === 0x5b ? body.subarray(0, unit * 2) : body;
      if (isAsciiIn(seen, unit, isBigEndian)) return { unit, isBigEndian, markBytes: 0 };
    }
  }
  return null;
};

const decode32 = (body: Uint8Array, start: number, isBigEndian: boolean): string => {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const pieces: string[] = [];
  for (let at = start; at + 4 <= body.length; at += 4) {
    const code = view.getUint32(at, !isBigEndian);
    pieces.push(String.fromCodePoint(code > 0x10ffff ? 0xfffd : code));
  }
  return pieces.join('');
};

/**
 * Text in UTF-16 or UTF-32 (by its byte order mark, or by the zeros between ASCII characters) as UTF-8; any other body as it is,
 * without the mark of UTF-8. What begins like UTF-16 need not be read so: look at the body as it is, too. Parsers of JSON find such encodings out by themselves, so rules have to see through them.
 */
export const asUtf8 = (body: Uint8Array): Uint8Array => {
  if (isAt(body, 0xef, 0xbb, 0xbf)) return body.subarray(3);
  // All but plain bytes begin with a mark or have a zero among their first four bytes.
  if (body.length < 2 || (body[0]! < 0xfe && body[0] !== 0 && body[1] !== 0)) return body;
  const found = detect(body);
  if (found === null) return body;
  const { unit, isBigEndian, markBytes } = found;
  if (unit === 4) return Buffer.from(decode32(body, markBytes, isBigEndian));
  const even = body.subarray(markBytes, body.length - ((body.length - markBytes) % 2));
  const units = Buffer.from(even);
  return Buffer.from((isBigEndian ? units.swap16() : units).toString('utf16le'));
};

/** Whether `text`, of `asUtf8`, is other bytes than the body's own. Small buffers share their memory, but never the same part of it. */
export const isReencoded = (body: Uint8Array, text: Uint8Array): boolean =>
  text.buffer !== body.buffer || text.byteOffset < body.byteOffset || text.byteOffset > body.byteOffset + 3;
