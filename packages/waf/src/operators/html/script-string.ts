import { findByte, findBytes } from '../../bytes/find-bytes.ts';
import { CODE } from './code.ts';
import { readCode } from './javascript.ts';

const BACKSLASH = 0x5c;
const PLACEHOLDER = Buffer.from('${');
const LINE_COMMENT = Buffer.from('//');
const BLOCK_COMMENT = Buffer.from('/*');
const HTML_COMMENT = Buffer.from('<!--');

/** What code names that reaches beyond a text: templates of programs, and what stands in brackets behind a quote, look like code too. */
const reaches =
  /\\u|\b(?:alert|atob|confirm|constructor|eval|fetch|Function|import|onerror|print|prompt|sendBeacon|setInterval|setTimeout|XMLHttpRequest)\b|\b(?:document|frames|globalThis|localStorage|location|navigator|parent|self|top|window)\s{0,9}(?:[.[=]|\?\.)|\b(?:cookie|globalEval|innerHTML|Reflect)\b/;

/** What may stand at the beginning of such code, a call of jQuery's or the console's; elsewhere `$(` is a shell's. */
const begins =
  /^(?:\$\{|["'`])[\s!([]{0,9}(?:(?:await|new|typeof|void)\s{1,9})?(?:\$\s{0,9}(?:[(`]|\?\.|\.(?:ajax|apply|call|get|getJSON|getScript|globalEval|parseHTML|post)\b)|console\s{0,9}(?:[.[]|\?\.))/;

const reachesOut = (code: string): boolean => begins.test(code) || reaches.test(code);

/** What code goes on with behind a text: an operator, a bracket, an end; `in` and `instanceof` are letters. */
const CONTINUES = new Uint8Array(256);
for (const char of '\n\r+-*/%&|^<>=!?:;,.([)]}i') CONTINUES[char.charCodeAt(0)] = 1;

const latin1 = (buf: Uint8Array, start: number, end: number): string =>
  Buffer.from(buf.buffer, buf.byteOffset + start, end - start).toString('latin1');

/** Whether what is behind a text can be code that leaves the page's script whole, as far as a look tells. */
const canGoOn = (buf: Uint8Array, quoteAt: number, end: number): boolean => {
  let next = quoteAt + 1;
  while (next < end && buf[next] === 0x20) next++;
  if (next >= end || CONTINUES[buf[next]!] === 0 || (buf[next] === 0x69 && buf[next + 1] !== 0x6e)) return false;
  return (
    findByte(buf, buf[quoteAt]!, next, end) >= 0 ||
    findBytes(buf, next, end, LINE_COMMENT) >= 0 ||
    findBytes(buf, next, end, BLOCK_COMMENT) >= 0 ||
    findBytes(buf, next, end, HTML_COMMENT) >= 0
  );
};

/** Whether a call of the text follows, or an index: patterns and selectors begin like that, too. */
const isBracketed = (buf: Uint8Array, start: number, end: number): boolean => {
  let at = start;
  while (at < end && buf[at] === 0x20) at++;
  if (buf[at] === 0x5b) return true;
  while (at < end && buf[at]! <= 0x20) at++;
  return buf[at] === 0x28;
};

/** Whether a text ends at the quote and what follows is code that runs and leaves the page's script whole. */
const leavesText = (buf: Uint8Array, quoteAt: number, end: number): boolean => {
  if (!canGoOn(buf, quoteAt, end)) return false;
  const { how, at, runs } = readCode(buf, quoteAt + 1, end, false);
  if (!runs || !(how === CODE.comment || (how === CODE.inText && buf[at] === buf[quoteAt]))) return false;
  return !isBracketed(buf, quoteAt + 1, end) || reachesOut(latin1(buf, quoteAt, at));
};

/**
 * Whether buf[start, end) put into a text of JavaScript in this quote would run code of its own: it ends the text, goes on with code that calls or
 * assigns, and begins another text or a comment for what is left (`'-alert(1)-'`, `";alert(1)//`). Linear.
 */
export const leavesScriptText = (buf: Uint8Array, start: number, end: number, quote: number): boolean => {
  const first = findByte(buf, quote, start, end);
  if (first < 0) return false;
  if (leavesText(buf, first, end)) return true;
  // An application may escape quotes but not backslashes, or neither.
  let unescaped = first;
  while (unescaped > start && buf[unescaped - 1] === BACKSLASH) {
    unescaped = findByte(buf, quote, unescaped + 1, end);
    if (unescaped < 0) return false;
  }
  return unescaped > first && leavesText(buf, unescaped, end);
};

/** Whether buf[start, end) put into a template of JavaScript would run code: `${alert(1)}`. Linear. */
export const runsInTemplate = (buf: Uint8Array, start: number, end: number): boolean => {
  for (let open = findBytes(buf, start, end, PLACEHOLDER); open >= 0; ) {
    const { how, at, runs } = readCode(buf, open + 2, end, true);
    if (runs && how === CODE.closed && reachesOut(latin1(buf, open, at))) return true;
    // What was read holds no template of its own that would run.
    open = findBytes(buf, Math.max(at, open + 2), end, PLACEHOLDER);
  }
  return false;
};
