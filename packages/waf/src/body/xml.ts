import { HEX_VALUE, IS_SPACE } from '../bytes/ascii.ts';
import { Malformed } from './malformed.ts';
import type { BodyLimits, ByteArena, ByteSpan, XmlSink } from './sink.ts';
import { isCharacter, isNameByte, isNameStart } from './xml-characters.ts';
import { encodingProblem } from './xml-encoding.ts';

/** How parsing ended; `error` tells what is wrong and at which byte, null when the document is well-formed. */
export interface XmlFacts {
  readonly error: string | null;
  /** Whether it ended at one of our limits: what follows may be sound. */
  readonly isOverLimit: boolean;
  /**
   * What an application may find in it that was not read: a document type that was let pass, or texts, which a document type declares or
   * an encoding hides.
   */
  readonly unread: 'nothing' | 'document type' | 'texts';
}

const [LESS, GREATER, AMPERSAND, SLASH, EQUALS, QUOTE, APOSTROPHE, HASH, SEMICOLON, OPEN_SUBSET] = [
  0x3c, 0x3e, 0x26, 0x2f, 0x3d, 0x22, 0x27, 0x23, 0x3b, 0x5b,
] as const;
const ENTITIES: readonly (readonly [Uint8Array, number])[] = Object.entries({
  'amp;': 0x26,
  'lt;': 0x3c,
  'gt;': 0x3e,
  'quot;': 0x22,
  'apos;': 0x27,
}).map(([name, byte]) => [Buffer.from(name), byte]);
const CDATA = Buffer.from('[CDATA[');
const XML = Buffer.from('xml');
/** Some parsers do without the blank that belongs behind it. */
const documentTypeStart = /^<!doctype/i;

/**
 * Parses an XML document (XML 1.0, without namespaces) and hands its character data and attribute values to the sink. A
 * document type is refused, and with it every entity but the five of XML and numeric ones: nothing expands, nothing is
 * fetched. The document must be in an encoding that contains ASCII. What came before an error has been handed over.
 *
 * With `isLenient`, for what only looks like XML and was decoded if it was in UTF-16, a document type without declarations of its own (as HTML has it) is passed over, and a
 * reference to an entity that is not known is text.
 */
export const parseXml = (
  body: Uint8Array,
  sink: XmlSink,
  arena: ByteArena,
  limits: BodyLimits,
  isLenient = false,
): XmlFacts => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  let at = 0;
  let count = 0;
  // Names of the open elements, as ranges of the body.
  const open: number[] = [];
  let hasRoot = false;
  // All character data goes to one stretch of the arena; decoding never lengthens it.
  arena.reserve(body.length);
  const content = arena.chunk;
  const contentStart = arena.at;
  let contentEnd = contentStart;
  arena.at += body.length;

  const fail = (reason: string, isOverLimit = false): never => {
    throw new Malformed(reason, at, isOverLimit);
  };
  const startsWith = (text: Uint8Array, from: number): boolean => {
    for (let i = 0; i < text.length; i++) if (body[from + i] !== text[i]) return false;
    return true;
  };
  const skipBlanks = (): boolean => {
    const start = at;
    while (at < body.length && IS_SPACE[body[at]!] === 1) at++;
    return at > start;
  };
  const skipPast = (mark: string, what: string): void => {
    const found = bytes.indexOf(mark, at, 'latin1');
    if (found < 0) fail(`unterminated ${what}`);
    at = found + mark.length;
  };
  const readName = (): number => {
    const start = at;
    if (!isNameStart(body[at])) fail('name expected');
    while (isNameByte(body[at])) at++;
    return start;
  };
  const countOne = (): void => {
    if (count++ >= limits.maxArguments) fail('more texts and attributes than the limit', true);
  };

  /** Decodes the reference at `at` to out[to..]; answers where it ends there. */
  const readReference = (out: Uint8Array, to: number): number => {
    at++;
    if (body[at] !== HASH) {
      for (const [name, byte] of ENTITIES) {
        if (!startsWith(name, at)) continue;
        at += name.length;
        out[to] = byte;
        return to + 1;
      }
      if (!isLenient) return fail('entity that is not one of the five');
      out[to] = AMPERSAND;
      return to + 1;
    }
    at++;
    const radix = body[at] === 0x78 ? 16 : 10;
    if (radix === 16) at++;
    const first = at;
    let code = 0;
    for (; at < body.length; at++) {
      const digit = HEX_VALUE[body[at]!]!;
      if (digit < 0 || digit >= radix) break;
      code = Math.min(code * radix + digit, 0x110000);
    }
    if (at === first || body[at] !== SEMICOLON || !isCharacter(code)) fail('malformed character reference');
    at++;
    // The shortest reference to a character has at least as many bytes as its UTF-8 form.
    return to + Buffer.from(out.buffer, out.byteOffset, out.length).write(String.fromCodePoint(code), to);
  };

  const readAttributes = (): void => {
    for (;;) {
      const isSeparated = skipBlanks();
      if (body[at] === GREATER || body[at] === SLASH) return;
      if (!isSeparated) fail('blank expected before an attribute');
      readName();
      skipBlanks();
      if (body[at] !== EQUALS) fail('attribute without a value');
      at++;
      skipBlanks();
      const quote = body[at];
      if (quote !== QUOTE && quote !== APOSTROPHE) fail('attribute value without quotes');
      at++;
      sink.attribute(readAttributeValue(quote!));
      countOne();
    }
  };

  const readAttributeValue = (quote: number): ByteSpan => {
    const start = at;
    while (at < body.length && body[at] !== quote && body[at] !== AMPERSAND && body[at] !== LESS) at++;
    if (body[at] === quote) return { buf: body, start, end: at++ };
    const close = bytes.indexOf(quote, at);
    if (close < 0) fail('unterminated attribute value');
    arena.reserve(close - start);
    const out = arena.chunk;
    const first = arena.at;
    let to = first;
    for (let from = start; from < at; from++) out[to++] = body[from]!;
    while (at < close) {
      const byte = body[at]!;
      if (byte === LESS) fail('< in an attribute value');
      if (byte === AMPERSAND) to = readReference(out, to);
      else {
        out[to++] = byte;
        at++;
      }
      if (at > close) fail('malformed reference');
    }
    at++;
    arena.at = to;
    return { buf: out, start: first, end: to };
  };

  const endText = (start: number): void => {
    let isBlank = true;
    for (let i = start; i < contentEnd && isBlank; i++) if (IS_SPACE[content[i]!] === 0) isBlank = false;
    if (isBlank) return;
    countOne();
    sink.text({ buf: content, start, end: contentEnd });
  };

  /** Character data, references and CDATA up to the next other markup. */
  const readText = (): void => {
    const start = contentEnd;
    while (at < body.length) {
      const byte = body[at]!;
      if (byte === AMPERSAND) {
        contentEnd = readReference(content, contentEnd);
      } else if (byte === LESS) {
        if (body[at + 1] !== 0x21 || !startsWith(CDATA, at + 2)) break;
        at += 9;
        const close = bytes.indexOf(']]>', at, 'latin1');
        if (close < 0) fail('unterminated CDATA section');
        while (at < close) content[contentEnd++] = body[at++]!;
        at += 3;
      } else {
        if (byte === 0) fail('NUL in the document');
        content[contentEnd++] = byte;
        at++;
      }
    }
    endText(start);
  };

  const isDeclaration = (start: number): boolean => startsWith(XML, start) && IS_SPACE[body[start + 3]!] === 1;

  /** A quoted identifier may hold what else would end it. */
  const skipDocumentType = (): void => {
    unread = 'document type';
    for (; body[at] !== GREATER; at++) {
      const byte = body[at];
      if (byte === undefined) fail('unterminated document type');
      if (byte === OPEN_SUBSET) {
        unread = 'texts';
        fail('document type with declarations');
      }
      if (byte !== QUOTE && byte !== APOSTROPHE) continue;
      const close = bytes.indexOf(byte!, at + 1);
      if (close < 0) fail('unterminated identifier');
      at = close;
    }
    at++;
  };

  const readMarkup = (): void => {
    const next = body[at + 1];
    if (next === 0x3f) {
      const start = at + 2;
      skipPast('?>', 'processing instruction');
      if (!isDeclaration(start)) sink.instruction({ buf: body, start, end: at - 2 });
    } else if (next === 0x21) {
      if (isLenient && documentTypeStart.test(bytes.toString('latin1', at, at + 10))) {
        skipDocumentType();
        return;
      }
      if (body[at + 2] !== 0x2d || body[at + 3] !== 0x2d) fail('document type or unknown declaration');
      at += 4;
      skipPast('-->', 'comment');
    } else if (next === SLASH) {
      at += 2;
      const start = readName();
      const nameEnd = open.pop();
      const nameStart = open.pop();
      if (nameStart === undefined || nameEnd === undefined)
        throw new Malformed('end tag without a start tag', at, false);
      if (bytes.compare(bytes, nameStart, nameEnd, start, at) !== 0) fail('end tag of another element');
      skipBlanks();
      if (body[at++] !== GREATER) fail('unterminated end tag');
    } else {
      at++;
      if (open.length === 0 && hasRoot) fail('second root element');
      if (open.length / 2 >= limits.maxDepth) fail('nested deeper than the limit', true);
      hasRoot = true;
      const nameStart = readName();
      const nameEnd = at;
      readAttributes();
      if (body[at] === SLASH) at++;
      else open.push(nameStart, nameEnd);
      if (body[at++] !== GREATER) fail('unterminated start tag');
    }
  };

  const run = (): void => {
    if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) at = 3;
    // An application may take away what a document must not begin with.
    if (isLenient) skipBlanks();
    const problem = encodingProblem(bytes, at, isLenient);
    if (problem !== null) {
      unread = 'texts';
      fail(problem);
    }
    while (at < body.length) {
      if (open.length > 0 && (body[at] !== LESS || body[at + 1] === 0x21)) readText();
      else if (skipBlanks()) continue;
      if (at >= body.length) break;
      if (body[at] !== LESS) fail('text outside the root element');
      readMarkup();
    }
    if (open.length > 0) fail('element without an end tag');
    if (!hasRoot) fail('no root element');
  };

  let unread: XmlFacts['unread'] = 'nothing';
  let error: string | null = null;
  let isOverLimit = false;
  try {
    run();
  } catch (thrown) {
    if (!(thrown instanceof Malformed)) throw thrown;
    error = `XML: ${thrown.reason} at byte ${thrown.at}.`;
    isOverLimit = thrown.isOverLimit;
  }
  if (contentEnd > contentStart) sink.content({ buf: content, start: contentStart, end: contentEnd });
  return { error, isOverLimit, unread };
};
