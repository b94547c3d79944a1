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
  while (Buffer.byteLength(text.slice(0, length)) > longestText) length -= 1 + ((length - longestText / 4) >> 3);
  return text.slice(0, length);
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
  const withoutRuns = text.replace(/[\s\0\xa0]{2,}/g, ' ').replace(/([\w\x80-\uffff]{48})[\w\x80-\uffff]+/g, '$1');
  const withoutComments = withoutRuns.replace(/\/\*[^!][\s\S]*?\*\//g, ' ');
  const withoutMiddles = withoutRuns.replace(/[^'"`]{257,}/g, (run) => `${run.slice(0, 128)}${run.slice(-128)}`);
  return [...new Set([withoutRuns, withoutComments, withoutMiddles].map(cut))];
};
