import type { Place, SourceFile } from '../reading.ts';
import { NginxError } from './error.ts';

/** A word, or one of `;`, `{`, `}` outside of quotes. */
export interface Token extends Required<Place> {
  kind: 'word' | ';' | '{' | '}';
  text: string;
}

/** nginx has no room for longer ones. */
const MAX_WORD = 4096;
const SPACE = /[\t\n\r ]*/y;
/** As much of a word as has no meaning of its own. */
const PLAIN = /[^\t\n\r ;{\\$]*/y;
const QUOTED = { '"': /[^"\\]*/y, "'": /[^'\\]*/y } as const;
const ESCAPES: Readonly<Record<string, string>> = { '"': '"', "'": "'", '\\': '\\', t: '\t', r: '\r', n: '\n' };

const withoutEscapes = (text: string): string =>
  text.includes('\\') ? text.replace(/\\(["'\\trn])/g, (_, character: string) => ESCAPES[character]!) : text;

/** Reads one file into words, by the rules of nginx. Each character is looked at a fixed number of times. */
export class Lexer {
  readonly #text: string;
  readonly #file: string;
  #at = 0;
  #line = 1;
  #lineStart = 0;

  constructor({ name, content }: SourceFile) {
    this.#file = name;
    this.#text = content;
    if (content.charCodeAt(0) === 0xfeff) this.#at = this.#lineStart = 1;
  }

  #skipTo(pattern: RegExp): string {
    // A backslash at the end has nothing after it; beyond the end a pattern would begin anew.
    this.#at = Math.min(this.#at, this.#text.length);
    pattern.lastIndex = this.#at;
    pattern.test(this.#text);
    const piece = this.#text.slice(this.#at, pattern.lastIndex);
    this.#at = pattern.lastIndex;
    return piece;
  }

  /** Counts the lines up to the current position from where a piece began. */
  #count(from: number): void {
    for (let next = this.#text.indexOf('\n', from); next !== -1 && next < this.#at; ) {
      this.#line++;
      this.#lineStart = next + 1;
      next = this.#text.indexOf('\n', next + 1);
    }
  }

  /** Where the next token would begin. */
  place(): Required<Place> {
    return { file: this.#file, line: this.#line, column: this.#at - this.#lineStart + 1 };
  }

  #skipSpace(): void {
    for (;;) {
      const from = this.#at;
      const space = this.#skipTo(SPACE);
      if (space.includes('\n')) this.#count(from);
      if (this.#text[this.#at] !== '#') return;
      const end = this.#text.indexOf('\n', this.#at);
      this.#at = end === -1 ? this.#text.length : end;
    }
  }

  /** The next token, or undefined at the end. Throws a `NginxError`. */
  next(): Token | undefined {
    this.#skipSpace();
    const character = this.#text[this.#at];
    if (character === undefined) return undefined;
    const place = this.place();
    if (character === ';' || character === '{' || character === '}') {
      this.#at++;
      return { ...place, kind: character, text: character };
    }
    const from = this.#at;
    const text = character === '"' || character === "'" ? this.#quoted(character, place) : this.#word();
    if (text.length > MAX_WORD) throw new NginxError(`a word may have ${MAX_WORD} characters`, place, text);
    if (this.#at - from > text.length || text.includes('\n')) this.#count(from);
    else if (text.includes('\\')) this.#count(from);
    return { ...place, kind: 'word', text: withoutEscapes(text) };
  }

  #word(): string {
    const from = this.#at;
    for (;;) {
      this.#skipTo(PLAIN);
      const character = this.#text[this.#at];
      if (character === '\\') this.#at += 2;
      // `${name}` begins no block.
      else if (character === '$') this.#at += this.#text[this.#at + 1] === '{' ? 2 : 1;
      else break;
    }
    return this.#text.slice(from, this.#at);
  }

  #quoted(quote: '"' | "'", place: Required<Place>): string {
    const from = ++this.#at;
    for (;;) {
      this.#skipTo(QUOTED[quote]);
      const character = this.#text[this.#at];
      if (character === undefined) {
        throw new NginxError(`this ${quote} is never closed`, place, this.#text.slice(from - 1, from + 60));
      }
      if (character === quote) break;
      this.#at += 2;
    }
    const text = this.#text.slice(from, this.#at++);
    const after = this.#text[this.#at];
    if (after !== undefined && !/[\t\n\r ;{)]/.test(after)) {
      throw new NginxError(`after a closing ${quote} there has to be a space or a semicolon`, this.place(), after);
    }
    return text;
  }

  /** Skips what stands up to the brace that closes a block, whatever language it is in. */
  skipBlock(opened: Token): void {
    const from = this.#at;
    const braces = /[{}]/g;
    braces.lastIndex = from;
    for (let depth = 1; depth > 0; ) {
      const found = braces.exec(this.#text);
      if (!found) throw new NginxError('this { is never closed', opened, '{');
      depth += found[0] === '{' ? 1 : -1;
    }
    this.#at = braces.lastIndex;
    this.#count(from);
  }
}
