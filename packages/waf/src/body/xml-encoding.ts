const declaration = /^<\?xml\s/;
const LONGEST_DECLARATION = 400;
const declaredEncoding = /\sencoding\s*=\s*["']([^"']*)["']/;
/** Encodings in which markup and ASCII text have their ASCII bytes; in others (UTF-7, EBCDIC) text hides from rules. */
const readableEncoding = /^(utf-?8|us-ascii|ascii|iso-?8859-\d{1,2}|latin1|windows-125\d|cp125\d)$/i;
/** What a document that was in UTF-16 still says. Parsers believe it of no other. */
const decodedEncoding = /^utf-?16$/i;

/**
 * What keeps the text of a document that begins at `at` from being read, null when nothing does: an encoding in which its ASCII
 * text has other bytes. `isLenient`: it was decoded if it was in UTF-16.
 */
export const encodingProblem = (bytes: Buffer, at: number, isLenient: boolean): string | null => {
  const start = bytes.toString('latin1', at, at + LONGEST_DECLARATION);
  if (!declaration.test(start)) return null;
  const end = start.indexOf('?>');
  // Behind many blanks an encoding would be overlooked.
  if (end < 0) return 'declaration without an end';
  const encoding = declaredEncoding.exec(start.slice(0, end))?.[1];
  const isRead =
    encoding === undefined || readableEncoding.test(encoding) || (isLenient && decodedEncoding.test(encoding));
  return isRead ? null : 'encoding that is not read here';
};
