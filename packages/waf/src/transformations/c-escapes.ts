/** The byte that `\C` stands for in C and JavaScript: the control characters by letter, any other byte itself. */
export const SIMPLE_ESCAPES = Uint8Array.from({ length: 256 }, (_, byte) => byte);
for (const [letter, control] of Object.entries({ a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 })) {
  SIMPLE_ESCAPES[letter.charCodeAt(0)] = control;
}

/** Whether a byte is one of the digits 0-7. */
export const isOctal = (byte: number): boolean => byte >= 0x30 && byte <= 0x37;
