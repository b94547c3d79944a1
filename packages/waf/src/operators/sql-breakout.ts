/**
 * SQL injection that libddwaf's cut of libinjection lets pass, because its list of fingerprints lacks theirs: a value
 * that ends the quoted text it is put into and goes on with a condition, a function or an operator; and calls of
 * the functions that delay or leak. Fingerprints are written as libinjection writes them (s string, & logic, o operator,
 * f function).
 */

const blanks = /(?:[\s\0]|\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\/)*/y;
const closings = /\)*/y;
const logic = /(?:(?:and|or|xor)(?![\w$])|&&|\|\|)/iy;
const operator = /[+\-*/|&=<>^%,]{1,3}/y;
const constant = /(?:0x[0-9a-f]+|\d+(?:\.\d*)?|true|false|null)(?![\w$])/iy;
/** What may follow the first operand of a condition. */
const afterOperand = /$|[=<>!'"`);#]|--|(?:like|is|in|between|and|or|regexp|rlike)(?![\w$])/iy;
/** Functions that attacks call right behind the quote: to delay, to compare bit by bit, to raise telling errors. */
const called =
  /(?:pg_sleep|sleep|benchmark|load_file|pg_read_file|extractvalue|updatexml|xp_cmdshell|randomblob|ascii|ord|chr|char|substr|substring|mid|concat|concat_ws|group_concat|hex|unhex|version|database|schema|user|current_user|if|ifnull|elt|cast|convert|count|exp)(?:[\s\0]*)\(/iy;
const calledFirst =
  /[\s\0]*(?:pg_sleep|sleep|benchmark|load_file|pg_read_file|extractvalue|updatexml|xp_cmdshell|randomblob)[\s\0]*\([\s\0]*["'\w(-]/iy;
/** Quote and operator at both ends: text that is spliced into a concatenation. */
const spliced = /^[\s\0]*(['"])[\s\0]*(?:\|\|?|&&?|\+)[^'"]*(?:\|\|?|&&?|\+)[\s\0]*\1[\s\0]*$/;

/** Whether the quote at `at` ends a text: a doubled one and one behind an odd number of backslashes do not. */
const isClosing = (text: string, at: number): boolean => {
  let backslashes = 0;
  while (text[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 0 && text[at + 1] !== text[at];
};

const closingQuote = (text: string, quote: string): number => {
  let at = text.indexOf(quote);
  while (at >= 0 && !isClosing(text, at)) at = text.indexOf(quote, at + (text[at + 1] === quote ? 2 : 1));
  return at;
};

const behindQuote = (text: string, quote: number): string | null => {
  let at = quote + 1;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at += found[0].length;
    return found !== null;
  };
  take(blanks);
  if (take(closings)) take(blanks);
  if (take(logic)) {
    take(blanks);
    if (take(called)) return 's&f(1';
    if (!take(constant)) return null;
    take(blanks);
    return take(afterOperand) ? 's&1' : null;
  }
  const hasOperator = take(operator);
  take(blanks);
  if (!take(called)) return null;
  return hasOperator ? 'sof(1' : 'sf(1';
};

/** The fingerprint of such an injection in a text, or null. Linear in its length. */
export const findSqlBreakout = (text: string): string | null => {
  calledFirst.lastIndex = 0;
  if (calledFirst.test(text)) return 'f(1)';
  for (const quote of ["'", '"']) {
    const at = closingQuote(text, quote);
    const fingerprint = at < 0 ? null : behindQuote(text, at);
    if (fingerprint !== null) return fingerprint;
  }
  return spliced.test(text) ? 'sos' : null;
};
