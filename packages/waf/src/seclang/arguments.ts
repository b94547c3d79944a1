import type { Dialect, Text } from './ast.ts';
import type { DiagnosticSink } from './diagnostic.ts';

/**
 * Splits a logical line into words: bare, or quoted with `"` or `'`. Inside quotes a backslash escapes the quote and, for ModSecurity 2
 * (whose arguments Apache unescapes), itself; every other backslash belongs to the pattern. In a pattern two backslashes that stand
 * alone stay two for ModSecurity 2 as well. Returns null when a quote is not closed.
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
      const isPattern = words.length === 2 && /^secrule$/i.test(words[0]!.value) && isPatternAt(text, at + 1);
      words.push(unescaped(line, at + 1, end, quote, dialect, isPattern));
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

/** Whether the operator that begins here is @rx, by name or by default. */
const isPatternAt = (text: string, at: number): boolean =>
  /^\s*!?\s*(?:@rx(?:global)?\b|[^@])/i.test(text.slice(at, at + 64));

const backslashesAt = (text: string, at: number): number => {
  let end = at;
  while (text[end] === '\\') end++;
  return end - at;
};

/**
 * How many of a run of backslashes are left by Apache. In a pattern two or three of them stay: whoever
 * writes `[\\/]` or `\\[` means a backslash, as ModSecurity 3 and Coraza read it, and Apache's `[\/]` would let it pass unseen. Four
 * are two: a rule that wants one backslash was written so for Apache, and ModSecurity 3 would wait for two.
 */
const keptOf = (run: number, isPattern: boolean): number => (isPattern && run <= 3 ? run : (run >> 1) + (run & 1));

const unescaped = (
  line: Text,
  start: number,
  end: number,
  quote: string,
  dialect: Dialect,
  isPattern: boolean,
): Text => {
  const raw = line.value.slice(start, end);
  const isApache = dialect === 'modsecurity2';
  if (!raw.includes(`\\${quote}`) && !(isApache && raw.includes('\\\\'))) return subText(line, start, end);
  let value = '';
  const offsets: number[] = [];
  for (let at = 0; at < raw.length; ) {
    const run = backslashesAt(raw, at);
    const isBeforeQuote = raw[at + run] === quote;
    // The last one of an odd run escapes the quote.
    const own = isBeforeQuote ? run - 1 : run;
    const kept = isApache && own > 0 ? keptOf(own, isPattern) : Math.max(0, own);
    for (let index = 0; index < kept; index++) offsets.push(start + at + index);
    value += '\\'.repeat(kept);
    at += run;
    if (at >= raw.length) break;
    offsets.push(start + at);
    value += raw[at++];
  }
  return { value, placeOf: (index) => line.placeOf(offsets[index] ?? end) };
};
