import { IS_ALPHANUMERIC } from '../../bytes/ascii.ts';
import { findByte, findBytes } from '../../bytes/find-bytes.ts';
import { createFolder, type Folded } from './fold.ts';
import { createSqlLexer } from './lexer.ts';
import { isAttackOutline } from './outlines.ts';
import { createToken, KIND, type SqlToken } from './token.ts';
import { wordNumber } from './words.ts';

const SINGLE = 0x27;
const DOUBLE = 0x22;
const BANG = 0x21;
const PERCENT = 0x25;
const BLANK = 0x20;
const COMMA = 0x2c;
const wordNumbers = (...words: string[]): ReadonlySet<number> => new Set(words.map(wordNumber));
/** Words with a text behind them that prose has not, and those that it has where little else follows. */
const intoFile = wordNumbers('INTO', 'INTO OUTFILE', 'INTO DUMPFILE');
const beforeText = wordNumbers('WHERE', 'WHEN', 'THEN', 'ELSE', 'ESCAPE', 'DELAY', 'TIME', 'AT TIME ZONE');
const IF = wordNumber('IF');
const LIMIT = wordNumber('LIMIT');
const WHERE = wordNumber('WHERE');
/** Classes of what prose has behind words like "as" and "when". */
const inProse = new Set(['n', 'k', 'E']);
/** SQL Server keeps statements with this word out of its log, be it in a comment. */
const kept = Buffer.from('sp_password');
/** Two operands and what joins them: prose, unless more was folded into them. */
const plainOutlines = new Set(['s&n', 'n&1', '1&1', '1&v', '1&s']);

const lexer = createSqlLexer();
const fold = createFolder(lexer);

/** Outlines seen before, by their letters as a number, and whether they are attacks; of the 20^5 that can be few come up. */
const known = new Map<number, boolean>();
const mostKnown = 16_384;

const outlineOf = ({ tokens, length }: Folded): string => {
  let outline = '';
  for (let at = 0; at < length; at++) outline += String.fromCharCode(tokens[at]!.kind);
  return outline;
};

const isKnownAttack = (folded: Folded): boolean => {
  const opensQuote = folded.tokens[0]!.kind === KIND.text && folded.tokens[0]!.opening !== 0;
  let key = opensQuote ? 1 : 0;
  for (let at = 0; at < folded.length; at++) key = key * 128 + folded.tokens[at]!.kind;
  let isAttack = known.get(key);
  if (isAttack === undefined) {
    if (known.size >= mostKnown) known.clear();
    isAttack = isAttackOutline(outlineOf(folded), opensQuote);
    known.set(key, isAttack);
  }
  return isAttack;
};

/** "1 --": a number with a comment right behind it or behind a blank; "1a2b--" is an identifier. */
const isNumberCutOff = (buf: Uint8Array, start: number, end: number, number: SqlToken): boolean => {
  const at = start + number.end - number.start;
  const next = at < end ? buf[at]! : 0;
  return next <= 32 || (next === 0x2d && buf[at + 1] === 0x2d);
};

/** Whether a value and a comment behind it are text: comments in prose have marks that prose has too. */
const isTextAndComment = (buf: Uint8Array, start: number, end: number, first: SqlToken, comment: SqlToken): boolean => {
  const mark = buf[comment.start]!;
  if (mark === 0x2f) return false;
  if (mark === 0x23 || first.kind === KIND.name) return true;
  if (first.kind === KIND.number) return lexer.tokensRead() === 2 && !isNumberCutOff(buf, start, end, first);
  return comment.end - comment.start > 2;
};

const rest = createToken();

/** Whether nothing is left of the value but bare names and numbers, which SQL has no use for in a row. */
const endsInProse = (behind: SqlToken | undefined): boolean => {
  let token = behind;
  while (token !== undefined) {
    const isProse = token.kind === KIND.name ? token.opening === 0 : token.kind === KIND.number && token.word === 0;
    if (!isProse) return false;
    token = lexer.next(rest) ? rest : undefined;
  }
  return true;
};

/** Whether an attack's outline is that of a text as well, and how it is written says that it is one. */
const isText = (buf: Uint8Array, start: number, end: number, outline: string, folded: Folded): boolean => {
  const { tokens, behind } = folded;
  const [first, second, third] = tokens as [SqlToken, SqlToken, SqlToken];
  if (outline.length > 1 && outline.endsWith('c') && findBytes(buf, start, end, kept) >= 0) return false;
  if (outline.length === 2) {
    if (second.kind === KIND.union) return lexer.tokensRead() === 2;
    return second.kind === KIND.comment && isTextAndComment(buf, start, end, first, second);
  }
  // An attack ends the text it is put into and begins another: …a' + 'b…
  if (outline === 'sos' || outline === 's&s') {
    return first.opening !== 0 || third.closing !== 0 || first.closing !== third.opening;
  }
  if (second.kind === KIND.keyword && third.kind === KIND.text)
    return !(intoFile.has(second.word) || (outline.length > 3 && beforeText.has(second.word)));
  // Rows are limited to a number.
  if (outline.length === 3 && second.word === LIMIT && third.kind === KIND.name) return true;
  // A share, and what of: 50% (draft) done.
  if (outline.startsWith('1o(n') && buf[second.start] === PERCENT && buf[second.start + 1] === BLANK)
    return lexer.tokensRead() <= (behind ? 6 : 5) && endsInProse(behind);
  if (outline.length === 5) {
    const fourth = tokens[3]!;
    // Cells of other sheets: SUM('Sheet 1'!A1).
    if (outline.startsWith('f(so')) return buf[fourth.start] === BANG && fourth.end - fourth.start === 1;
    if (outline.startsWith('onk', 1)) return inProse.has(outline[4]!) && fourth.word !== WHERE;
  }
  // Programs have a condition in the parentheses of IF, SQL two more arguments.
  if (first.word === IF && /^f\(.\)[on&]/.test(outline)) return findByte(buf, COMMA, first.end, end) < 0;
  // Sorted by several columns.
  if (outline === 'nBn') return lexer.tokensRead() < 6;
  return plainOutlines.has(outline) && lexer.tokensRead() === 3;
};

/** The outline, when it is an attack's, of a value that is taken to stand in a quote (0: in none). */
const judge = (buf: Uint8Array, start: number, end: number, quote: number, isMysql: boolean): string | null => {
  const folded = fold(buf, start, end, quote, isMysql);
  if (folded.length < 1 || !isKnownAttack(folded)) return null;
  const outline = outlineOf(folded);
  if (outline.includes('X')) return 'X';
  return isText(buf, start, end, outline, folded) ? null : outline;
};

/** Whether the value can be SQL injection at all: a lone number or word is one token, which is no attack. */
const canBeSql = (buf: Uint8Array, start: number, end: number): boolean => {
  if (end - start < 2) return false;
  const isNumber = buf[start]! <= 0x39;
  for (let at = start; at < end; at++) {
    const byte = buf[at]!;
    if (byte !== 0x5f && IS_ALPHANUMERIC[byte] === 0) return true;
    if (isNumber && byte > 0x39) return true;
  }
  return false;
};

/**
 * The outline of the SQL injection that buf[start, end) is, written as libinjection writes fingerprints (see KIND; "s&sos" for `1' or '1'='1`), or
 * null. The value is read as if it stood in a statement without quotes, in single and in double ones, with MySQL's comments where they
 * differ; only its beginning decides, so that long values cost little more than short ones, unless they are one long list or text.
 */
export const detectSqlInjection = (buf: Uint8Array, start: number, end: number): string | null => {
  if (!canBeSql(buf, start, end)) return null;
  let found = judge(buf, start, end, 0, false);
  if (found === null && lexer.hasDialectComment()) found = judge(buf, start, end, 0, true);
  if (found !== null) return found;
  if (findByte(buf, SINGLE, start, end) >= 0) {
    found = judge(buf, start, end, SINGLE, false);
    if (found === null && lexer.hasDialectComment()) found = judge(buf, start, end, SINGLE, true);
    if (found !== null) return found;
  }
  return findByte(buf, DOUBLE, start, end) < 0 ? null : judge(buf, start, end, DOUBLE, true);
};
