/** Value of an ASCII hexadecimal digit, or -1 for any other byte. */
export const HEX_VALUE: Int8Array = new Int8Array(256).fill(-1);
for (let i = 0; i < 10; i++) HEX_VALUE[0x30 + i] = i;
for (let i = 0; i < 6; i++) {
  HEX_VALUE[0x41 + i] = 10 + i;
  HEX_VALUE[0x61 + i] = 10 + i;
}

/** 1 for the six bytes isspace(3) accepts in the C locale: HT, LF, VT, FF, CR and space. */
export const IS_SPACE: Uint8Array = new Uint8Array(256);
for (const byte of [9, 10, 11, 12, 13, 32]) IS_SPACE[byte] = 1;

/** The same as a comparison, for loops in which most bytes are no space: there it is faster than the table. */
export const isSpace = (byte: number): boolean => byte <= 0x20 && (byte === 0x20 || (byte >= 9 && byte <= 13));

/** 1 for ASCII letters and digits. */
export const IS_ALPHANUMERIC: Uint8Array = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  if (/[0-9A-Za-z]/.test(String.fromCharCode(byte))) IS_ALPHANUMERIC[byte] = 1;
}

/** Every byte with A-Z turned into a-z; bytes above 127 stay, as in the C locale. */
export const LOWER: Uint8Array = new Uint8Array(256);
for (let byte = 0; byte < 256; byte++) {
  LOWER[byte] = byte >= 0x41 && byte <= 0x5a ? byte + 32 : byte;
}

export const LOWER_HEX_DIGITS: Uint8Array = new TextEncoder().encode('0123456789abcdef');
