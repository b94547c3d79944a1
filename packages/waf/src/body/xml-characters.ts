/** Bytes that may stand in a name: not blank, no markup; a digit, dash or dot may not begin one. */
export const isNameByte = (byte: number | undefined): boolean =>
  byte !== undefined &&
  (byte >= 0x80 ||
    (byte >= 0x30 && byte <= 0x3a) ||
    (byte >= 0x41 && byte <= 0x5a) ||
    (byte >= 0x61 && byte <= 0x7a) ||
    byte === 0x5f ||
    byte === 0x2d ||
    byte === 0x2e);
/** The same for its first byte. */
export const isNameStart = (byte: number | undefined): boolean =>
  isNameByte(byte) && !(byte! >= 0x30 && byte! <= 0x39) && byte !== 0x2d && byte !== 0x2e;

/** Code points that may be in a document. */
export const isCharacter = (code: number): boolean =>
  code === 9 ||
  code === 10 ||
  code === 13 ||
  (code >= 0x20 && code < 0xd800) ||
  (code > 0xdfff && code <= 0x10ffff && (code & 0xfffe) !== 0xfffe);
