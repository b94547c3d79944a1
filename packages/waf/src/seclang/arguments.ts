import type { Dialect, Text } from './ast.ts';
import type { DiagnosticSink } from './diagnostic.ts';

/**
 * Splits a logical line into words: bare, or quoted with `"` or `'`. Inside quotes a backslash escapes the quote and, for ModSecurity 2
 * (whose arguments Apache unescapes), itself; every other backslash belongs to the pattern. Returns null when a quote is not closed.
 */
export const splitArguments = (line: Text, dialect: Dialect, diagnostics: DiagnosticSink): Text[] | null => {
  const words: Text[] = [];
  const text = line.value;
  let at = 0;
  for (;;) {
    while (at < text.length && isBlank(text.charCodeAt(at))) at++;
    if (at === text.length) return words;
    const quote = text[at];
    if (quote === '"' || quote === "'") {
      const end = closingQuote(text, at, quote);
      if (end === -1) {
        diagnostics.error(
          line.placeOf(at),
          'This quote is never closed',
          text.slice(at, at + 40),
          `a closing ${quote}`,
        );
        return null;
      }
      if (end + 1 < text.length && !isBlank(text.charCodeAt(end + 1))) {
        diagnostics.error(line.placeOf(end + 1), 'Text follows a closing quote', wordAt(text, end + 1), 'a space');
        return null;
      }
      words.push(unescaped(line, at + 1, end, quote, dialect));
      at = end + 1;
    } else {
      const start = at;
      while (at < text.length && !isBlank(text.charCodeAt(at))) at++;
      words.push(subText(line, start, at));
    }
  }
};

/** The part [start, end) of a text; places stay true. */
export const subText = (text: Text, start: number, end: number): Text => ({
  value: text.value.slice(start, end),
  placeOf: (index) => text.placeOf(start + index),
});

const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);

const wordAt = (text: string, at: number): string => /^\S{1,40}/.exec(text.slice(at))?.[0] ?? '';

const closingQuote = (text: string, open: number, quote: string): number => {
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === quote) return at;
  }
  return -1;
};

const unescaped = (line: Text, start: number, end: number, quote: string, dialect: Dialect): Text => {
  const raw = line.value.slice(start, end);
  const escapable = dialect === 'modsecurity2' ? `\\${quote}` : quote;
  if (![...escapable].some((char) => raw.includes(`\\${char}`))) return subText(line, start, end);
  let value = '';
  const offsets: number[] = [];
  for (let at = 0; at < raw.length; at++) {
    if (raw[at] === '\\' && at + 1 < raw.length) {
      if (!escapable.includes(raw[at + 1]!)) {
        offsets.push(start + at);
        value += '\\';
      }
      at++;
    }
    offsets.push(start + at);
    value += raw[at];
  }
  return { value, placeOf: (index) => line.placeOf(offsets[index] ?? end) };
};
