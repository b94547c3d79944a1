import { findByte } from '../find-bytes.ts';
import { isDangerousElement, useOfAttribute } from './names.ts';
import { isScriptUrl } from './script-url.ts';
import { createHtmlTokenizer, type HtmlContext, MARKUP } from './tokens.ts';

const quotes = ["'", '"', '`'] as const;
const tokenizer = createHtmlTokenizer();
const { token } = tokenizer;

const startsWith = (buf: Uint8Array, start: number, end: number, text: string): boolean => {
  if (end - start < text.length) return false;
  for (let at = 0; at < text.length; at++) if ((buf[start + at]! | 0x20) !== text.charCodeAt(at)) return false;
  return true;
};

/** Internet Explorer's conditional comments, processing instructions, and comments that a backtick ends. */
const isActiveComment = (buf: Uint8Array, start: number, end: number): boolean => {
  if (findByte(buf, 0x60, start, end) >= 0) return true;
  if (
    end - start > 3 &&
    ((buf[start] === 0x5b && startsWith(buf, start + 1, end, 'if')) || startsWith(buf, start, end, 'xml'))
  )
    return true;
  return startsWith(buf, start, end, 'import') || startsWith(buf, start, end, 'entity');
};

const runsIn = (buf: Uint8Array, start: number, end: number, context: HtmlContext): boolean => {
  tokenizer.start(buf, start, end, context);
  let nameStart = -1;
  let nameEnd = -1;
  while (tokenizer.next()) {
    const { kind } = token;
    if (kind === MARKUP.attribute) {
      nameStart = token.start;
      nameEnd = token.end;
      continue;
    }
    if (kind === MARKUP.value && nameStart >= 0) {
      const use = useOfAttribute(buf, nameStart, nameEnd);
      if (use === 'script') return true;
      if (use === 'url' && isScriptUrl(buf, token.start, token.end)) return true;
      if (use === 'name' && useOfAttribute(buf, token.start, token.end) !== 'none') return true;
    }
    if (kind === MARKUP.doctype) return true;
    if (kind === MARKUP.tag && isDangerousElement(buf, token.start, token.end)) return true;
    if (kind === MARKUP.comment && isActiveComment(buf, token.start, token.end)) return true;
    nameStart = -1;
  }
  return false;
};

/**
 * Whether buf[start, end) would run script if a page had it in its text or in an attribute, in whatever quotes: elements and attributes that are script, URLs
 * of script, and what old browsers take for either. Linear in its length.
 */
export const detectScript = (buf: Uint8Array, start: number, end: number): boolean => {
  // Tags need the one, values of attributes the other.
  if (findByte(buf, 0x3c, start, end) < 0 && findByte(buf, 0x3d, start, end) < 0) return false;
  if (runsIn(buf, start, end, 'text')) return true;
  if (runsIn(buf, start, end, 'no quote')) return true;
  for (const quote of quotes) {
    if (findByte(buf, quote.charCodeAt(0), start, end) >= 0 && runsIn(buf, start, end, quote)) return true;
  }
  return false;
};
