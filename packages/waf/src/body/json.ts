import { HEX_VALUE } from '../bytes/ascii.ts';
import { type BodyLimits, type ByteArena, type ByteSpan, type JsonSink, maxNameBytes } from './sink.ts';

/** How parsing ended; `error` tells what is wrong and at which byte, null when all of the document was read. */
export interface JsonFacts {
  readonly error: string | null;
  /** Whether it ended at one of our limits: what follows may be sound. */
  readonly isOverLimit: boolean;
  /** First byte that was not read. */
  readonly end: number;
}

const [QUOTE, BACKSLASH, OPEN_MAP, CLOSE_MAP, OPEN_LIST, CLOSE_LIST, COMMA, COLON, DOT] = [
  0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a, 0x2e,
] as const;
const ROOT = Buffer.from('json');
const EMPTY_KEY = Buffer.from('empty-key');
const ELEMENT = Buffer.from('.array_');
const WORDS: readonly (readonly [Uint8Array, boolean])[] = [
  [Buffer.from('true'), true],
  [Buffer.from('false'), true],
  [Buffer.from('null'), false],
];
const ESCAPES = new Int16Array(256).fill(-1);
for (const [char, byte] of Object.entries({ '"': 34, '\\': 92, '/': 47, b: 8, f: 12, n: 10, r: 13, t: 9 })) {
  ESCAPES[char.charCodeAt(0)] = byte;
}

class Malformed {
  readonly reason: string;
  readonly at: number;
  readonly isOverLimit: boolean;
  constructor(reason: string, at: number, isOverLimit: boolean) {
    this.reason = reason;
    this.at = at;
    this.isOverLimit = isOverLimit;
  }
}

const RECORD_SEPARATOR = 0x1e;
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** Bytes of the well-formed UTF-8 sequence at `at`, or 0. */
const sequenceLength = (body: Uint8Array, at: number): number => {
  const lead = body[at]!;
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || at + size > body.length) return 0;
  for (let i = 1; i < size; i++) if ((body[at + i]! & 0xc0) !== 0x80) return 0;
  const second = body[at + 1]!;
  if ((lead === 0xe0 && second < 0xa0) || (lead === 0xed && second > 0x9f)) return 0;
  if ((lead === 0xf0 && second < 0x90) || (lead === 0xf4 && second > 0x8f)) return 0;
  return size;
};

const encode = (code: number, out: Uint8Array, at: number): number => {
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

/**
 * Parses JSON (RFC 8259) and hands every scalar to the sink under ModSecurity 3's name: `json.items.array_0.sku`, with
 * `empty-key` for "". A key that occurs twice is handed over twice. null is the empty value, true, false and numbers are
 * as written, strings decoded to UTF-8 (half a surrogate pair to `?`). What came before an error has been handed over.
 * With `isSequence` there may be any number of documents, with blanks or record separators (RFC 7464) between them.
 */
export const parseJson = (
  body: Uint8Array,
  sink: JsonSink,
  arena: ByteArena,
  limits: BodyLimits,
  isSequence = false,
): JsonFacts => {
  const path = new Uint8Array(maxNameBytes);
  let pathLength = 0;
  let at = 0;
  let count = 0;
  // One level: where its part of the path begins, and for a list the index of its next element (for a map -1).
  const starts: number[] = [];
  const indexes: number[] = [];
  const isNamed: boolean[] = [];

  const fail = (reason: string, isOverLimit = false): never => {
    throw new Malformed(reason, at, isOverLimit);
  };
  const append = (bytes: Uint8Array, start: number, end: number): void => {
    if (pathLength + end - start > maxNameBytes) fail('argument name too long', true);
    for (let from = start; from < end; from++) path[pathLength++] = bytes[from]!;
  };
  const skipBlanks = (): void => {
    while (at < body.length && isBlank(body[at]!)) at++;
  };

  const readUnicode = (): number => {
    if (at + 6 > body.length) fail('incomplete \\u escape');
    let code = 0;
    for (let i = 2; i < 6; i++) {
      const digit = HEX_VALUE[body[at + i]!]!;
      if (digit < 0) fail('\\u without four hexadecimal digits');
      code = code * 16 + digit;
    }
    at += 6;
    return code;
  };

  /** Reads the string whose opening quote is at `at`; without escapes it is a range of the body. */
  const readString = (): ByteSpan => {
    const start = ++at;
    for (;;) {
      if (at >= body.length) fail('unterminated string');
      const byte = body[at]!;
      if (byte >= 0x5d && byte < 0x80) {
        at++;
        continue;
      }
      if (byte === QUOTE) return { buf: body, start, end: at++ };
      if (byte === BACKSLASH) break;
      if (byte < 0x20) fail('control character in a string');
      const size = byte < 0x80 ? 1 : sequenceLength(body, at);
      if (size === 0) fail('string that is not UTF-8');
      at += size;
    }
    let close = at;
    while (close < body.length && body[close] !== QUOTE) close += body[close] === BACKSLASH ? 2 : 1;
    arena.reserve(close - start);
    const out = arena.chunk;
    const first = arena.at;
    let write = first;
    for (let from = start; from < at; from++) out[write++] = body[from]!;
    for (;;) {
      if (at >= body.length) fail('unterminated string');
      const byte = body[at]!;
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        const letter = body[at + 1];
        if (letter === 0x75) {
          let code = readUnicode();
          if (code >= 0xd800 && code <= 0xdbff && body[at] === BACKSLASH && body[at + 1] === 0x75) {
            const position = at;
            const low = readUnicode();
            if (low >= 0xdc00 && low <= 0xdfff) code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
            else at = position;
          }
          write = encode(code >= 0xd800 && code <= 0xdfff ? 0x3f : code, out, write);
        } else {
          const decoded = letter === undefined ? -1 : ESCAPES[letter]!;
          if (decoded < 0) fail('unknown escape in a string');
          out[write++] = decoded;
          at += 2;
        }
        continue;
      }
      if (byte < 0x20) fail('control character in a string');
      const size = byte < 0x80 ? 1 : sequenceLength(body, at);
      if (size === 0) fail('string that is not UTF-8');
      for (let i = 0; i < size; i++) out[write++] = body[at++]!;
    }
    at++;
    arena.at = write;
    return { buf: out, start: first, end: write };
  };

  const readNumber = (): ByteSpan => {
    const start = at;
    if (body[at] === 0x2d) at++;
    if (body[at] === 0x30) at++;
    else {
      if (!isDigit(body[at])) fail('unexpected character');
      while (isDigit(body[at])) at++;
    }
    if (body[at] === DOT) {
      at++;
      if (!isDigit(body[at])) fail('number without digits after the point');
      while (isDigit(body[at])) at++;
    }
    if (body[at] === 0x65 || body[at] === 0x45) {
      at++;
      if (body[at] === 0x2b || body[at] === 0x2d) at++;
      if (!isDigit(body[at])) fail('number without digits in its exponent');
      while (isDigit(body[at])) at++;
    }
    return { buf: body, start, end: at };
  };

  const readScalar = (): ByteSpan => {
    const first = body[at]!;
    if (first === QUOTE) return readString();
    if (first === 0x2d || isDigit(first)) return readNumber();
    for (const [word, hasValue] of WORDS) {
      let length = 0;
      while (length < word.length && body[at + length] === word[length]) length++;
      if (length < word.length) continue;
      at += length;
      return { buf: body, start: hasValue ? at - length : at, end: at };
    }
    return fail('unexpected character');
  };

  /** The path so far, up to `length`. */
  const nameOf = (length: number): ByteSpan => {
    arena.reserve(length);
    const { chunk, at: start } = arena;
    for (let from = 0; from < length; from++) chunk[start + from] = path[from]!;
    arena.at = start + length;
    return { buf: chunk, start, end: start + length };
  };

  const emit = (value: ByteSpan): void => {
    if (count++ >= limits.maxArguments) fail('more arguments than the limit', true);
    const level = starts.length - 1;
    if (level >= 0 && indexes[level]! >= 0 && !isNamed[level]) {
      isNamed[level] = true;
      sink.list(nameOf(starts[level]!));
    }
    sink.argument(nameOf(pathLength), value);
  };

  const enterElement = (): void => {
    pathLength = starts.at(-1)!;
    append(ELEMENT, 0, ELEMENT.length);
    const index = indexes[indexes.length - 1]!++;
    let digits = 1;
    for (let rest = index; rest >= 10; rest = (rest / 10) | 0) digits++;
    if (pathLength + digits > maxNameBytes) fail('argument name too long', true);
    pathLength += digits;
    for (let rest = index, to = pathLength - 1; digits > 0; digits--, rest = (rest / 10) | 0)
      path[to--] = 0x30 + (rest % 10);
  };

  const enterMember = (): void => {
    skipBlanks();
    if (body[at] !== QUOTE) fail('key expected');
    const key = readString();
    pathLength = starts.at(-1)!;
    path[pathLength] = DOT;
    append(path, pathLength, pathLength + 1);
    if (key.end === key.start) append(EMPTY_KEY, 0, EMPTY_KEY.length);
    else append(key.buf, key.start, key.end);
    skipBlanks();
    if (body[at++] !== COLON) fail('colon expected');
  };

  const readDocument = (): void => {
    pathLength = 0;
    append(ROOT, 0, ROOT.length);
    for (;;) {
      skipBlanks();
      if (at >= body.length) fail('value expected');
      const opening = body[at]!;
      if (opening === OPEN_MAP || opening === OPEN_LIST) {
        if (starts.length >= limits.maxDepth) fail('nested deeper than the limit', true);
        at++;
        starts.push(pathLength);
        indexes.push(opening === OPEN_LIST ? 0 : -1);
        isNamed.push(false);
        skipBlanks();
        if (body[at] !== (opening === OPEN_LIST ? CLOSE_LIST : CLOSE_MAP)) {
          if (opening === OPEN_LIST) enterElement();
          else enterMember();
          continue;
        }
      } else {
        emit(readScalar());
      }
      // A value has ended, or an empty container is about to: close what ends here, then go to the next sibling.
      for (;;) {
        skipBlanks();
        if (starts.length === 0) return;
        const isList = indexes.at(-1)! >= 0;
        const byte = body[at];
        if (byte === (isList ? CLOSE_LIST : CLOSE_MAP)) {
          at++;
          pathLength = starts.pop()!;
          indexes.pop();
          isNamed.pop();
          continue;
        }
        if (byte !== COMMA) fail(at >= body.length ? 'unterminated document' : 'comma expected');
        at++;
        if (isList) enterElement();
        else enterMember();
        break;
      }
    }
  };

  const skipSeparators = (): void => {
    while (at < body.length && (isBlank(body[at]!) || body[at] === RECORD_SEPARATOR)) at++;
  };

  try {
    if (isSequence) skipSeparators();
    readDocument();
    while (isSequence && at < body.length) {
      skipSeparators();
      if (at < body.length) readDocument();
    }
    if (at < body.length) fail('something behind the document');
    return { error: null, isOverLimit: false, end: at };
  } catch (thrown) {
    if (!(thrown instanceof Malformed)) throw thrown;
    return {
      error: `JSON: ${thrown.reason} at byte ${thrown.at}.`,
      isOverLimit: thrown.isOverLimit,
      end: thrown.at,
    };
  }
};
