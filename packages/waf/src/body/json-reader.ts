import { HEX_VALUE } from '../bytes/ascii.ts';
import { sequenceLength, writeCodePoint } from '../bytes/utf8.ts';
import { Malformed } from './malformed.ts';
import type { ByteArena, ByteSpan } from './sink.ts';

const [QUOTE, BACKSLASH, DOT, LETTER_U] = [0x22, 0x5c, 0x2e, 0x75] as const;
const WORDS: readonly (readonly [Uint8Array, boolean])[] = [
  [Buffer.from('true'), true],
  [Buffer.from('false'), true],
  [Buffer.from('null'), false],
];
const ESCAPES = new Int16Array(256).fill(-1);
for (const [char, byte] of Object.entries({ '"': 34, '\\': 92, '/': 47, b: 8, f: 12, n: 10, r: 13, t: 9 })) {
  ESCAPES[char.charCodeAt(0)] = byte;
}

export const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;

/** Reads the scalars of a JSON text, one after the other; every method throws `Malformed` where the text is not JSON. */
export class JsonReader {
  readonly #body: Uint8Array;
  /** Where decoded strings go. */
  readonly #arena: ByteArena;
  /** The next byte to be read. */
  at = 0;

  constructor(body: Uint8Array, arena: ByteArena) {
    this.#body = body;
    this.#arena = arena;
  }

  /** Ends the parsing here. */
  fail(reason: string, isOverLimit = false): never {
    throw new Malformed(reason, this.at, isOverLimit);
  }

  skipBlanks(): void {
    const body = this.#body;
    while (this.at < body.length && isBlank(body[this.at]!)) this.at++;
  }

  /** Reads the string whose opening quote is at `at`; without escapes it is a range of the body. */
  readString(): ByteSpan {
    const body = this.#body;
    const start = this.at + 1;
    let at = start;
    for (;;) {
      const byte = body[at];
      if (byte === undefined) return this.#failAt(at, 'unterminated string');
      if (byte >= 0x5d && byte < 0x80) {
        at++;
        continue;
      }
      if (byte === QUOTE) {
        this.at = at + 1;
        return { buf: body, start, end: at };
      }
      if (byte === BACKSLASH) break;
      at += this.#lengthAt(at, byte);
    }
    return this.#decodeString(start, at);
  }

  /** The rest of a string from its first escape on, as text that is written anew. */
  #decodeString(start: number, escapeAt: number): ByteSpan {
    const body = this.#body;
    const arena = this.#arena;
    let close = escapeAt;
    while (close < body.length && body[close] !== QUOTE) close += body[close] === BACKSLASH ? 2 : 1;
    arena.reserve(close - start);
    const out = arena.chunk;
    const first = arena.at;
    let write = first;
    let at = start;
    while (at < escapeAt) out[write++] = body[at++]!;
    for (;;) {
      const byte = body[at];
      if (byte === undefined) return this.#failAt(at, 'unterminated string');
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) {
        const letter = body[at + 1];
        if (letter === LETTER_U) {
          let code = this.#unicodeAt(at);
          at += 6;
          if (code >= 0xd800 && code <= 0xdbff && body[at] === BACKSLASH && body[at + 1] === LETTER_U) {
            const low = this.#unicodeAt(at);
            if (low >= 0xdc00 && low <= 0xdfff) {
              code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
              at += 6;
            }
          }
          write = writeCodePoint(code >= 0xd800 && code <= 0xdfff ? 0x3f : code, out, write);
        } else {
          const decoded = letter === undefined ? -1 : ESCAPES[letter]!;
          if (decoded < 0) return this.#failAt(at, 'unknown escape in a string');
          out[write++] = decoded;
          at += 2;
        }
        continue;
      }
      for (let left = this.#lengthAt(at, byte); left > 0; left--) out[write++] = body[at++]!;
    }
    this.at = at + 1;
    arena.at = write;
    return { buf: out, start: first, end: write };
  }

  #failAt(at: number, reason: string): never {
    this.at = at;
    return this.fail(reason);
  }

  /** Bytes of the character in a string that this byte begins. */
  #lengthAt(at: number, byte: number): number {
    if (byte < 0x20) this.#failAt(at, 'control character in a string');
    const size = byte < 0x80 ? 1 : sequenceLength(this.#body, at);
    if (size === 0) this.#failAt(at, 'string that is not UTF-8');
    return size;
  }

  /** The four digits of the escape at `at`. */
  #unicodeAt(at: number): number {
    if (at + 6 > this.#body.length) this.#failAt(at, 'incomplete \\u escape');
    let code = 0;
    for (let i = 2; i < 6; i++) {
      const digit = HEX_VALUE[this.#body[at + i]!]!;
      if (digit < 0) this.#failAt(at, '\\u without four hexadecimal digits');
      code = code * 16 + digit;
    }
    return code;
  }

  #skipDigits(): void {
    while (isDigit(this.#body[this.at])) this.at++;
  }

  #readNumber(): ByteSpan {
    const body = this.#body;
    const start = this.at;
    if (body[this.at] === 0x2d) this.at++;
    if (body[this.at] === 0x30) this.at++;
    else {
      if (!isDigit(body[this.at])) this.fail('unexpected character');
      this.#skipDigits();
    }
    if (body[this.at] === DOT) {
      this.at++;
      if (!isDigit(body[this.at])) this.fail('number without digits after the point');
      this.#skipDigits();
    }
    if (body[this.at] === 0x65 || body[this.at] === 0x45) {
      this.at++;
      if (body[this.at] === 0x2b || body[this.at] === 0x2d) this.at++;
      if (!isDigit(body[this.at])) this.fail('number without digits in its exponent');
      this.#skipDigits();
    }
    return { buf: body, start, end: this.at };
  }

  /** Reads a string, a number or a word; null is the empty value. */
  readScalar(): ByteSpan {
    const body = this.#body;
    const start = this.at;
    const first = body[start]!;
    if (first === QUOTE) return this.readString();
    if (first === 0x2d || isDigit(first)) return this.#readNumber();
    for (const [word, hasValue] of WORDS) {
      let length = 0;
      while (length < word.length && body[start + length] === word[length]) length++;
      if (length < word.length) continue;
      this.at = start + length;
      return { buf: body, start: hasValue ? start : this.at, end: this.at };
    }
    return this.fail('unexpected character');
  }
}
