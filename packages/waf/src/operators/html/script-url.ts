const AMPERSAND = 0x26;
const SEMICOLON = 0x3b;

/** Schemes whose URLs are script or carry a page of their own; `java` stands for javascript as some browsers took both. */
const schemes = ['data', 'view-source', 'java', 'vbscript'];

/** Characters larger than this do not exist; a reference to one is text. */
const largestCharacter = 0x10ff_ff;

/** 16 and more for what is no digit. */
const digitOf = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = (byte | 0x20) - 0x61;
  return letter >= 0 ? letter + 10 : 99;
};

/** References by name to characters that browsers pass over in a scheme, which need their semicolon. */
const passedOver = ['&Tab;', '&NewLine;'].map((name) => Buffer.from(name));

/** One character of an attribute's value: a byte, or what a character reference means. */
type Character = { code: number; next: number };

const characterAt = (buf: Uint8Array, at: number, end: number): Character => {
  const plain = { code: buf[at]!, next: at + 1 };
  if (buf[at] !== AMPERSAND || at + 2 >= end) return plain;
  if (buf[at + 1] !== 0x23) {
    const name = passedOver.find((each) => at + each.length <= end && each.every((byte, i) => buf[at + i] === byte));
    return name === undefined ? plain : { code: 9, next: at + name.length };
  }
  const isHex = (buf[at + 2]! | 0x20) === 0x78;
  const base = isHex ? 16 : 10;
  const first = at + (isHex ? 3 : 2);
  let code = 0;
  let next = first;
  while (next < end && digitOf(buf[next]!) < base) {
    code = code * base + digitOf(buf[next]!);
    if (code > largestCharacter) return plain;
    next++;
  }
  if (next === first) return plain;
  if (next < end && buf[next] === SEMICOLON) next++;
  return { code, next };
};

/** Whether a URL is of a scheme that runs script, read as browsers read it: control characters before and within the scheme are nothing. */
export const isScriptUrl = (buf: Uint8Array, start: number, end: number): boolean => {
  let at = start;
  let scheme = '';
  while (at < end && scheme.length < 11) {
    const { code, next } = characterAt(buf, at, end);
    at = next;
    // Some browsers pass over characters outside ASCII before a scheme.
    if (scheme === '' && (code <= 32 || code >= 127)) continue;
    if (code <= 13) continue;
    if (code >= 127) return false;
    scheme += String.fromCharCode(code).toLowerCase();
    if (schemes.includes(scheme)) return true;
    if (!schemes.some((known) => known.startsWith(scheme))) return false;
  }
  return false;
};
