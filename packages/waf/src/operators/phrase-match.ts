import { HEX_VALUE, IS_SPACE } from '../bytes/ascii.ts';
import { type AhoCorasick, buildAhoCorasick } from '../regex/aho-corasick.ts';
import { type OperatorEnv, OperatorError, type OperatorInstance, ruleBytes } from './operator.ts';

const [BAR, BACKSLASH, QUOTE] = [0x7c, 0x5c, 0x22] as const;
const ESCAPABLE = new Set([0x3a, 0x3b, BACKSLASH, QUOTE]);

const splitAtBlanks = (bytes: Uint8Array): Uint8Array[] => {
  const phrases: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const first = at;
    while (at < bytes.length && IS_SPACE[bytes[at]!] === 0) at++;
    if (at > first) phrases.push(bytes.subarray(first, at));
    at++;
  }
  return phrases;
};

/** Reads Snort content: `|41 42|` as bytes, `\` before `: ; \ "`; undefined when it is not written so. */
const decodeContent = (bytes: Uint8Array): Uint8Array[] | undefined => {
  const phrases: number[][] = [];
  let phrase: number[] = [];
  let isHex = false;
  let high = -1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === BAR) {
      if (high >= 0) return undefined;
      isHex = !isHex;
    } else if (isHex) {
      const digit = HEX_VALUE[byte]!;
      if (digit < 0 && byte !== 0x20) return undefined;
      if (digit >= 0 && high < 0) high = digit;
      else if (digit >= 0) {
        phrase.push(high * 16 + digit);
        high = -1;
      }
    } else if (byte === BACKSLASH) {
      const next = bytes[++at];
      if (next === undefined || !ESCAPABLE.has(next)) return undefined;
      phrase.push(next);
    } else if (IS_SPACE[byte] === 1) {
      if (phrase.length > 0) phrases.push(phrase);
      phrase = [];
    } else {
      phrase.push(byte);
    }
  }
  if (isHex) return undefined;
  if (phrase.length > 0) phrases.push(phrase);
  return phrases.map((codes) => Uint8Array.from(codes));
};

/**
 * The phrases of a @pm argument, separated by white space, optionally all in double quotes. An argument with a `|` or
 * `\` that does not fit Snort's content syntax is taken as it stands, as ModSecurity does.
 */
export const parsePhrases = (argument: string): Uint8Array[] => {
  let text = argument.trim();
  if (text.length >= 2 && text.startsWith('"') && text.endsWith('"')) text = text.slice(1, -1);
  const bytes = ruleBytes(text);
  return decodeContent(bytes) ?? splitAtBlanks(bytes);
};

/** The phrases of a file: one to a line, blanks at its ends included; empty lines and `#` comments are none. */
export const parsePhraseFile = (content: Uint8Array): Uint8Array[] =>
  Buffer.from(content)
    .toString('latin1')
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line !== '' && !/^\s*#/.test(line))
    .map(ruleBytes);

const matchPhrases = (phrases: Uint8Array[]): OperatorInstance => {
  // Built when it is first needed: the engine searches the phrases of all rules at once, and asks here for what it has found.
  let automaton: AhoCorasick | undefined;
  return {
    match(buf, start, end, context) {
      automaton ??= buildAhoCorasick(phrases, { caseless: true });
      const found = automaton.first(buf, start, end);
      if (found < 0) return false;
      if (context.wantsCapture) context.capture(0, phrases[found]!, 0, phrases[found]!.length);
      return true;
    },
  };
};

/** @pm: the value contains one of the phrases in any ASCII case; TX.0 becomes the phrase as the rule wrote it. */
export const compilePm = (argument: string): OperatorInstance => {
  const phrases = parsePhrases(argument);
  if (phrases.length === 0) throw new OperatorError('pm needs at least one phrase');
  return matchPhrases(phrases);
};

/** @pmFromFile: @pm with the phrases of one or more files, whose names white space separates. */
export const compilePmFromFile = (argument: string, env: OperatorEnv): OperatorInstance => {
  const names = argument.split(/\s+/).filter((name) => name !== '');
  if (names.length === 0) throw new OperatorError('pmFromFile needs a file name');
  return matchPhrases(names.flatMap((name) => parsePhraseFile(env.readFile(name))));
};
