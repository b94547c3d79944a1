import { findByte } from '../../bytes/find-bytes.ts';
import { isDangerousElement, useOfAttribute } from './names.ts';
import { leavesScriptText, runsInTemplate } from './script-string.ts';
import { isScriptUrl } from './script-url.ts';
import { createHtmlTokenizer, type HtmlContext, MARKUP } from './tokens.ts';

/**
 * A value that is script holds a byte of each of these: whoever looks for it beforehand looks for no more. Markup needs `<` or `=`; code in a
 * text or template calls or assigns, and ends the text by a quote or begins in a brace.
 */
export const scriptNeeds: readonly string[] = ['<=(`', '<=\'"`{'];

/** Bytes without which a value is no script of one kind or another, by the bits that say that they were seen. */
const LESS = 1;
const EQUALS = 2;
const PAREN = 4;
const BRACE = 8;
const quotes = [
  { context: "'", byte: 0x27, mark: 16 },
  { context: '"', byte: 0x22, mark: 32 },
  { context: '`', byte: 0x60, mark: 64 },
] as const;
const OPEN = 0x28;
const MARKS = new Uint8Array(256);
MARKS[0x3c] = LESS;
MARKS[0x3d] = EQUALS;
MARKS[0x28] = PAREN;
MARKS[0x7b] = BRACE;
for (const { byte, mark } of quotes) MARKS[byte] = mark;

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
      if (use === 'call' && findByte(buf, OPEN, token.start, token.end) >= 0) return true;
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
 * Whether buf[start, end) would run script if a page had it in its text, in an attribute or in a text of its script, in whatever quotes: elements and
 * attributes that are script, URLs of script, what old browsers take for either, and code behind the end of a text. Linear in its length.
 */
export const detectScript = (buf: Uint8Array, start: number, end: number): boolean => {
  let seen = 0;
  for (let at = start; at < end; at++) seen |= MARKS[buf[at]!]!;
  // Code calls or assigns.
  if ((seen & (PAREN | EQUALS | quotes[2].mark)) !== 0) {
    for (const { byte, mark } of quotes) {
      if ((seen & mark) !== 0 && leavesScriptText(buf, start, end, byte)) return true;
    }
    if ((seen & BRACE) !== 0 && runsInTemplate(buf, start, end)) return true;
  }
  // Tags need the one, values of attributes the other.
  if ((seen & (LESS | EQUALS)) === 0) return false;
  if (runsIn(buf, start, end, 'text')) return true;
  if (runsIn(buf, start, end, 'no quote')) return true;
  for (const { context, mark } of quotes) if ((seen & mark) !== 0 && runsIn(buf, start, end, context)) return true;
  return false;
};
