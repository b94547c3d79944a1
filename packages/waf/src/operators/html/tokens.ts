import { findByte } from '../../bytes/find-bytes.ts';

/** What a piece of markup is; `kind` of what `nextToken` leaves in the tokenizer. */
export const MARKUP = {
  none: 0,
  text: 1,
  /** The name of a tag; also of a closing one with more than its name, which ends an element as well. */
  tag: 2,
  closingTag: 3,
  attribute: 4,
  value: 5,
  comment: 6,
  doctype: 7,
} as const;

/** Where a value is put into a page: into its text, or into an attribute's value that stands in this quote, or in none. */
export type HtmlContext = 'text' | 'no quote' | '"' | "'" | '`';

const LT = 0x3c;
const GT = 0x3e;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const DASH = 0x2d;
const BANG = 0x21;
const PERCENT = 0x25;

const BLANK = new Uint8Array(256);
for (const byte of [0x20, 9, 10, 11, 12, 13, 0]) BLANK[byte] = 1;
const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

const TEXT = 0;
const BEFORE_ATTRIBUTE = 1;
const BEFORE_VALUE = 2;
const QUOTED = 3;
const END = 4;

/**
 * Reads a value as browsers read HTML: the WHATWG standard's tokenizer where browsers follow it, and what old ones do besides (NUL is passed over,
 * a backtick is a quote, `<%` begins a comment).
 */
export const createHtmlTokenizer = () => {
  let buf: Uint8Array = new Uint8Array();
  let at = 0;
  let end = 0;
  let state = TEXT;
  let quote = 0;
  const token = { kind: MARKUP.none as number, start: 0, end: 0 };

  const give = (kind: number, start: number, stop: number, next: number, nextState: number): true => {
    token.kind = kind;
    token.start = start;
    token.end = stop;
    at = next;
    state = nextState;
    return true;
  };

  /** Where the byte is from `from` on, `end` when it is not. */
  const find = (byte: number, from: number): number => {
    const found = findByte(buf, byte, from, end);
    return found < 0 ? end : found;
  };

  const comment = (start: number, stop: number, next: number): true => give(MARKUP.comment, start, stop, next, TEXT);

  /** Up to `-->` or `--!>`, and, as NUL is nothing to some, whatever of it stands between the dashes. */
  const dashedComment = (start: number): true => {
    for (let dash = find(DASH, start); dash < end; dash = find(DASH, dash + 1)) {
      let next = dash + 1;
      while (next < end && buf[next] === 0) next++;
      if (buf[next] !== DASH && buf[next] !== BANG) continue;
      if (next + 1 < end && buf[next + 1] === GT) return comment(start, dash, next + 2);
    }
    return comment(start, end, end);
  };

  const startsWith = (text: string, from: number): boolean => {
    if (from + text.length > end) return false;
    for (let index = 0; index < text.length; index++) {
      const byte = buf[from + index]!;
      if (byte !== text.charCodeAt(index) && (byte | 0x20) !== text.charCodeAt(index)) return false;
    }
    return true;
  };

  const declaration = (start: number): true => {
    if (startsWith('doctype', start)) {
      const stop = find(GT, start);
      return give(MARKUP.doctype, start, stop, stop + 1, TEXT);
    }
    if (startsWith('--', start)) return dashedComment(start + 2);
    if (startsWith('[cdata[', start)) {
      let stop = find(0x5d, start);
      while (stop < end && !(buf[stop + 1] === 0x5d && stop + 2 < end && buf[stop + 2] === GT))
        stop = find(0x5d, stop + 1);
      return give(MARKUP.text, start, stop, stop + 3, TEXT);
    }
    const stop = find(GT, start);
    return comment(start, stop, stop + 1);
  };

  const scriptletComment = (start: number): true => {
    let stop = find(PERCENT, start);
    while (stop < end && !(stop + 1 < end && buf[stop + 1] === GT)) stop = find(PERCENT, stop + 1);
    return comment(start, stop, stop + 2);
  };

  const tagName = (start: number, isClosing: boolean): true => {
    let stop = start;
    while (stop < end && (BLANK[buf[stop]!] === 0 || buf[stop] === 0) && buf[stop] !== GT && buf[stop] !== SLASH)
      stop++;
    if (stop < end && buf[stop] === GT) {
      return give(isClosing ? MARKUP.closingTag : MARKUP.tag, start, stop, stop + 1, TEXT);
    }
    return give(MARKUP.tag, start, stop, stop + 1, BEFORE_ATTRIBUTE);
  };

  /** The markup behind a `<`; false when it is text. */
  const markup = (start: number): boolean => {
    if (start >= end) return false;
    const byte = buf[start]!;
    if (byte === BANG) return declaration(start + 1);
    if (byte === 0x3f) {
      const stop = find(GT, start);
      return comment(start + 1, stop, stop + 1);
    }
    if (byte === PERCENT) return scriptletComment(start + 1);
    if (isLetter(byte) || byte === 0) return tagName(start, false);
    if (byte !== SLASH || start + 1 >= end) return false;
    if (isLetter(buf[start + 1]!)) return tagName(start + 1, true);
    if (buf[start + 1] === GT) return false;
    const stop = find(GT, start + 1);
    return comment(start + 1, stop, stop + 1);
  };

  const text = (): boolean => {
    for (let open = find(LT, at); open < end; open = find(LT, open + 1)) if (markup(open + 1)) return true;
    return false;
  };

  const value = (): boolean => {
    while (at < end && BLANK[buf[at]!] === 1) at++;
    if (at >= end) return false;
    const byte = buf[at]!;
    if (byte === 0x22 || byte === 0x27 || byte === 0x60) {
      at++;
      quote = byte;
      return quotedValue();
    }
    let stop = at;
    while (stop < end && (BLANK[buf[stop]!] === 0 || buf[stop] === 0) && buf[stop] !== GT) stop++;
    return give(MARKUP.value, at, stop, stop, BEFORE_ATTRIBUTE);
  };

  const quotedValue = (): boolean => {
    const stop = find(quote, at);
    return give(MARKUP.value, at, stop, stop + 1, stop < end ? BEFORE_ATTRIBUTE : END);
  };

  const attribute = (): boolean => {
    while (at < end && (BLANK[buf[at]!] === 1 || buf[at] === SLASH)) at++;
    if (at >= end) return false;
    if (buf[at] === GT) {
      at++;
      state = TEXT;
      return text();
    }
    let stop = at + 1;
    for (; stop < end; stop++) {
      const byte = buf[stop]!;
      if (byte === EQUALS || byte === GT || byte === SLASH || (BLANK[byte] === 1 && byte !== 0)) break;
    }
    const start = at;
    let next = stop;
    while (next < end && BLANK[buf[next]!] === 1) next++;
    if (next < end && buf[next] === EQUALS) return give(MARKUP.attribute, start, stop, next + 1, BEFORE_VALUE);
    return give(MARKUP.attribute, start, stop, next, BEFORE_ATTRIBUTE);
  };

  return {
    token,
    /** Begins with the value bytes[start, stop) in a context. */
    start(bytes: Uint8Array, start: number, stop: number, context: HtmlContext): void {
      buf = bytes;
      at = start;
      end = stop;
      if (context === 'text') state = TEXT;
      else if (context === 'no quote') state = BEFORE_ATTRIBUTE;
      else {
        state = QUOTED;
        quote = context.charCodeAt(0);
      }
    },
    /** Puts the next piece of markup into `token`, passing over text; false at the end. */
    next(): boolean {
      if (at >= end && state !== BEFORE_ATTRIBUTE) return false;
      switch (state) {
        case TEXT:
          return text();
        case BEFORE_ATTRIBUTE:
          return attribute();
        case BEFORE_VALUE:
          return value();
        case QUOTED:
          return quotedValue();
        default:
          return false;
      }
    },
  };
};
