import { isUtf8 } from 'node:buffer';
import type { ByteRange } from './injection-detector.ts';

/** libddwaf cuts longer strings, and what it cuts off it does not see. */
export const longestText = 4096;

/** Whitespace to libinjection's SQL lexer, where every other byte above 127 is part of a word. */
const LATIN1_NBSP = 0xa0;

/**
 * The JavaScript string whose UTF-8 form libddwaf will see for these bytes: the same bytes when they are UTF-8; else
 * each byte above 127 becomes one word character, as both lexers treat them all alike but for SQL's blank A0.
 */
export const injectionText = ({ buf, start, end }: ByteRange, language: 'sql' | 'html'): string => {
  const bytes = Buffer.from(buf.buffer, buf.byteOffset + start, end - start);
  if (isUtf8(bytes)) return bytes.toString();
  const blank = language === 'sql' ? ' ' : 'ÿ';
  return bytes.toString('latin1').replace(/[\x80-\xff]/g, (char) => (char.charCodeAt(0) === LATIN1_NBSP ? blank : 'ÿ'));
};

const cut = (text: string): string => {
  let length = Math.min(text.length, longestText);
  while (Buffer.byteLength(text.slice(0, length)) > longestText) length -= Math.max(1, (length - longestText / 4) >> 3);
  return text.slice(0, length);
};

/** Shortens each run of `isMember` characters to its first `head` and last `tail`, when it is longer than both. */
const shortenRuns = (text: string, isMember: (code: number) => boolean, head: number, tail: number): string => {
  const pieces: string[] = [];
  let kept = 0;
  for (let at = 0; at < text.length; ) {
    const start = at;
    while (at < text.length && isMember(text.charCodeAt(at))) at++;
    if (at - start > head + tail) {
      pieces.push(text.slice(kept, start + head));
      kept = at - tail;
    }
    at++;
  }
  return pieces.join('') + text.slice(kept);
};

const isBlank = (code: number): boolean => code === 0x20 || (code >= 9 && code <= 13) || code === 0 || code === 0xa0;
const isWord = (code: number): boolean =>
  code >= 0x80 || code === 0x5f || (code >= 0x30 && code <= 0x39) || ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a);
const isQuoteless = (code: number): boolean => code !== 0x22 && code !== 0x27 && code !== 0x60;

/** Puts a space in place of each closed comment, but for MySQL's executable ones. */
const dropComments = (text: string): string => {
  const pieces: string[] = [];
  let kept = 0;
  for (let open = text.indexOf('/*'); open >= 0; open = text.indexOf('/*', open)) {
    const close = text.indexOf('*/', open + 2);
    if (close < 0) break;
    if (text[open + 2] === '!') {
      open += 3;
      continue;
    }
    pieces.push(text.slice(kept, open), ' ');
    kept = close + 2;
    open = kept;
  }
  return pieces.join('') + text.slice(kept);
};

/**
 * Texts to test in place of one that is too long. For SQL, where the first tokens decide, padding is taken out in three
 * ways (runs; runs and comments; the middle of long stretches without a quote), so that none of it pushes the attack
 * out of sight; for HTML the text is tested in overlapping windows.
 */
export const shorterTexts = (text: string, language: 'sql' | 'html'): string[] => {
  if (text.length <= longestText && Buffer.byteLength(text) <= longestText) return [text];
  if (language === 'html') {
    // A quarter of the limit: so many characters fit whatever their size in UTF-8.
    const size = longestText / 4;
    const windows: string[] = [];
    for (let at = 0; at < text.length; at += size / 2) windows.push(text.slice(at, at + size));
    return windows;
  }
  const withoutRuns = shortenRuns(shortenRuns(text, isBlank, 1, 0), isWord, 48, 0);
  const withoutMiddles = shortenRuns(withoutRuns, isQuoteless, 128, 128);
  return [...new Set([withoutRuns, dropComments(withoutRuns), withoutMiddles].map(cut))];
};
