/** A password as it goes into the derivations: those of RFC 7292 take UTF-16 with a NUL, PBKDF2 takes UTF-8. */
export interface EncodedPassword {
  utf16: Buffer;
  utf8: Buffer;
}

const utf16 = (text: string): Buffer => Buffer.from(`${text}\0`, 'utf16le').swap16();

/**
 * The ways in which programs encode a password. An empty one is a NUL or nothing at all; OpenSSL before 1.1 took each byte of the UTF-8 for
 * a character.
 */
export const encodingsOf = (password: string): EncodedPassword[] => {
  const utf8 = Buffer.from(password, 'utf8');
  const usual = { utf16: utf16(password), utf8 };
  if (password === '') return [usual, { utf16: Buffer.alloc(0), utf8 }];
  const bytewise = utf8.toString('latin1');
  return bytewise === password ? [usual] : [usual, { utf16: utf16(bytewise), utf8 }];
};
