import { CaddyfileError } from './error.ts';
import { stripPadding, wrongMarker } from './heredoc.ts';
import type { Token } from './token.ts';
import type { Shifts, Substituted } from './variables.ts';

/** What separates words: what Go's `unicode.IsSpace` takes for space, but for the carriage return, which is nothing at all. */
const SPACE = /[\t\v\f \u0085\u00A0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*/y;
/** As much of a word as has no meaning of its own. */
const PLAIN = /[^\t\n\v\f\r \\\u0085\u00A0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/y;
const NOT_SPACE = /[^\t\n\v\f\r \u0085\u00A0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;

/** Characters of a word without quotes. No name, path or address comes near. */
const MAX_WORD = 65_536;

export interface Lexed {
  tokens: Token[];
  /** What made the lexer stop before the end. */
  error: CaddyfileError | undefined;
}

/** Where in the source a position of the text lies, variables put back; positions have to be asked for in order. */
const inSource = (shifts: Shifts): ((at: number) => number) => {
  let index = 0;
  return (at) => {
    while (index < shifts.at.length && shifts.at[index]! <= at) index++;
    return at + (index === 0 ? 0 : shifts.by[index - 1]!);
  };
};

/** Reads one text into words. Each character is looked at a fixed number of times. */
class Lexer {
  readonly tokens: Token[] = [];
  readonly #text: string;
  readonly #file: string;
  readonly #ofLine: (at: number) => number;
  readonly #ofWord: (at: number) => number;
  #at = 0;
  /** Where the current line begins, and its number. */
  #lineStart = 0;
  #line = 1;
  #row = 1;
  /** Lines that a backslash joined to this row. */
  #joined = 0;

  constructor(file: string, { text, shifts }: Substituted) {
    this.#file = file;
    this.#text = text;
    this.#ofLine = inSource(shifts);
    this.#ofWord = inSource(shifts);
    if (text.charCodeAt(0) === 0xfeff) this.#at = this.#lineStart = 1;
  }

  #breakLine(): void {
    this.#line++;
    this.#lineStart = this.#at;
  }

  #place(at: number) {
    const inSource = this.#ofWord(at) - this.#ofLine(this.#lineStart);
    return { file: this.#file, line: this.#line, column: inSource + 1 };
  }

  #begin(at: number): Token {
    return { ...this.#place(at), text: '', quote: '', row: this.#row, endRow: this.#row, chain: 0 };
  }

  #end(token: Token, text: string, quote: Token['quote']): void {
    token.text = text;
    token.quote = quote;
    token.endRow = this.#row;
    this.tokens.push(token);
  }

  #newRow(): void {
    this.#at++;
    this.#breakLine();
    this.#row += 1 + this.#joined;
    this.#joined = 0;
  }

  /** Skips white space, comments and joined lines up to a word; tells whether there is one. */
  #skip(): boolean {
    const text = this.#text;
    for (;;) {
      SPACE.lastIndex = this.#at;
      SPACE.test(text);
      this.#at = SPACE.lastIndex;
      const code = text.charCodeAt(this.#at);
      if (Number.isNaN(code)) return false;
      if (code === 13) this.#at++;
      else if (code === 10) this.#newRow();
      else if (code === 35) this.#skipComment();
      else if (code === 92 && this.#joins()) this.#join();
      else if (code === 92 && text.charCodeAt(this.#at + 1) === 35) this.#skipComment();
      else return true;
    }
  }

  /** Whether the backslash here is followed by the end of the line. */
  #joins(): boolean {
    const next = this.#text.charCodeAt(this.#at + 1);
    return next === 10 || (next === 13 && this.#text.charCodeAt(this.#at + 2) === 10);
  }

  #join(): void {
    this.#at = this.#text.indexOf('\n', this.#at) + 1;
    this.#breakLine();
    this.#joined++;
  }

  /** A backslash anywhere in a comment joins the next line: Caddy does not mean to, but does. */
  #skipComment(): void {
    const text = this.#text;
    const lineEnd = text.indexOf('\n', this.#at);
    const end = lineEnd === -1 ? text.length : lineEnd;
    const joins = lineEnd !== -1 && text.slice(this.#at, end).includes('\\');
    this.#at = end;
    if (joins) this.#join();
  }

  /** Quoted by `quote`; the opening one has been passed. */
  #quoted(token: Token, quote: '"' | '`'): void {
    const start = this.#at;
    const text = this.#text;
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (Number.isNaN(code)) {
        throw new CaddyfileError(
          `a ${quote} is opened here and never closed`,
          token,
          quote + text.slice(start, start + 300),
        );
      }
      if (code === quote.charCodeAt(0)) break;
      if (code === 10) this.#newRow();
      else this.#at += code === 92 && quote === '"' && text.charCodeAt(this.#at + 1) !== 10 ? 2 : 1;
    }
    const inside = text.slice(start, this.#at++);
    // Only quotes can be escaped; a backslash before anything else is one.
    this.#end(
      token,
      quote === '"' ? inside.replaceAll(/\\[\s\S]/g, (pair) => (pair === '\\"' ? '"' : pair)) : inside,
      quote,
    );
  }

  /** What follows a word that began with `<<`, up to the end of the line, is a marker unless there is a space. */
  #heredoc(token: Token, begun: string): void {
    const text = this.#text;
    const lineEnd = text.indexOf('\n', this.#at);
    const rest = (lineEnd === -1 ? text.slice(this.#at) : text.slice(this.#at, lineEnd)).replaceAll('\r', '');
    const blank = rest.indexOf(' ');
    if (blank !== -1 || lineEnd === -1) {
      const word = blank === -1 ? rest : rest.slice(0, blank);
      const end = blank === -1 ? text.length : text.indexOf(' ', this.#at);
      this.#at = end;
      this.#end(token, begun + word, '');
      return;
    }
    const marker = (begun + rest).slice(2);
    const wrong = wrongMarker(marker);
    if (wrong) throw new CaddyfileError(wrong, token, begun + rest);
    const start = lineEnd + 1;
    const close = text.indexOf(marker, start);
    if (close === -1) throw new CaddyfileError(`the heredoc <<${marker} is never closed`, token, begun + rest);
    const body = text.slice(start, close);
    const value = stripPadding(body);
    if (typeof value === 'number') {
      throw new CaddyfileError(
        `the heredoc <<${marker} has a line that does not begin with the white space before its closing marker`,
        { file: token.file, line: token.line + 1 + value, column: 1 },
        body.split('\n', value + 1)[value],
      );
    }
    const breaks = body.split('\n').length;
    this.#row += breaks;
    this.#line += breaks;
    this.#lineStart = start + body.lastIndexOf('\n') + 1;
    this.#at = close + marker.length;
    this.#end(token, value, '<');
  }

  /** A word without quotes. */
  #word(token: Token): void {
    const text = this.#text;
    let [word, isPlain] = ['', false];
    for (;;) {
      PLAIN.lastIndex = this.#at;
      if (PLAIN.test(text)) {
        word += text.slice(this.#at, PLAIN.lastIndex);
        this.#at = PLAIN.lastIndex;
      }
      // Looked at once: to look at what is still being put together takes as long as it is.
      if (!isPlain && word.length >= 2) {
        isPlain = !word.startsWith('<<');
        if (!isPlain) {
          this.#heredoc(token, word);
          return;
        }
      }
      if (word.length > MAX_WORD) throw new CaddyfileError('this word is too long: is it a Caddyfile?', token, word);
      const code = text.charCodeAt(this.#at);
      if (code === 13) this.#at++;
      else if (code !== 92 || this.#joins()) break;
      else {
        const next = text.charAt(++this.#at);
        // `\<` begins no heredoc. Before white space a backslash is nothing, before anything else it is one.
        if (next === '<') isPlain = true;
        else if (NOT_SPACE.test(next)) word += '\\';
        else break;
        if (next === '\\') word += text.charAt(this.#at++);
      }
    }
    if (word !== '') this.#end(token, word, '');
  }

  read(most: number): void {
    while (this.#skip()) {
      const token = this.#begin(this.#at);
      if (this.tokens.length >= most)
        throw new CaddyfileError(`there are more than ${most} words`, token, this.#text.slice(this.#at, this.#at + 40));
      const first = this.#text[this.#at];
      if (first === '"' || first === '`') {
        this.#at++;
        this.#quoted(token, first);
      } else this.#word(token);
    }
  }
}

/** Reads a text into words; stops at the first thing that can't be read, or after `most` words, and says so. */
export const lex = (file: string, substituted: Substituted, most: number): Lexed => {
  const lexer = new Lexer(file, substituted);
  try {
    lexer.read(most);
    return { tokens: lexer.tokens, error: undefined };
  } catch (error) {
    if (!(error instanceof CaddyfileError)) throw error;
    return { tokens: lexer.tokens, error };
  }
};
