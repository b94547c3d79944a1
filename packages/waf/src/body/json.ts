import { isBlank, JsonReader } from './json-reader.ts';
import { Malformed } from './malformed.ts';
import { type BodyLimits, type ByteArena, type ByteSpan, type JsonSink, maxNameBytes } from './sink.ts';

/** How parsing ended; `error` tells what is wrong and at which byte, null when all of the document was read. */
export interface JsonFacts {
  readonly error: string | null;
  /** Whether it ended at one of our limits: what follows may be sound. */
  readonly isOverLimit: boolean;
  /** First byte that was not read. */
  readonly end: number;
}

const [QUOTE, OPEN_MAP, CLOSE_MAP, OPEN_LIST, CLOSE_LIST, COMMA, COLON, DOT] = [
  0x22, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a, 0x2e,
] as const;
const ROOT = Buffer.from('json');
const EMPTY_KEY = Buffer.from('empty-key');
const ELEMENT = Buffer.from('.array_');
const RECORD_SEPARATOR = 0x1e;

/**
 * Parses JSON (RFC 8259) and hands every scalar to the sink under ModSecurity 3's name: `json.items.array_0.sku`, with
 * `empty-key` for "". A key that occurs twice is handed over twice. null is the empty value, true, false and numbers are
 * as written, strings decoded to UTF-8 (half a surrogate pair to `?`). What came before an error has been handed over.
 * With `isSequence` there may be any number of documents, with blanks or record separators (RFC 7464) between them.
 */
export const parseJson = (
  body: Uint8Array,
  sink: JsonSink,
  arena: ByteArena,
  limits: BodyLimits,
  isSequence = false,
): JsonFacts => {
  const path = new Uint8Array(maxNameBytes);
  let pathLength = 0;
  const json = new JsonReader(body, arena);
  let count = 0;
  // One level: where its part of the path begins, and for a list the index of its next element (for a map -1).
  const starts: number[] = [];
  const indexes: number[] = [];
  const isNamed: boolean[] = [];

  const append = (bytes: Uint8Array, start: number, end: number): void => {
    if (pathLength + end - start > maxNameBytes) json.fail('argument name too long', true);
    for (let from = start; from < end; from++) path[pathLength++] = bytes[from]!;
  };

  /** The path so far, up to `length`. */
  const nameOf = (length: number): ByteSpan => {
    arena.reserve(length);
    const { chunk, at: start } = arena;
    for (let from = 0; from < length; from++) chunk[start + from] = path[from]!;
    arena.at = start + length;
    return { buf: chunk, start, end: start + length };
  };

  const emit = (value: ByteSpan): void => {
    if (count++ >= limits.maxArguments) json.fail('more arguments than the limit', true);
    const level = starts.length - 1;
    if (level >= 0 && indexes[level]! >= 0 && !isNamed[level]) {
      isNamed[level] = true;
      sink.list(nameOf(starts[level]!));
    }
    sink.argument(nameOf(pathLength), value);
  };

  const enterElement = (): void => {
    pathLength = starts.at(-1)!;
    append(ELEMENT, 0, ELEMENT.length);
    const index = indexes[indexes.length - 1]!++;
    let digits = 1;
    for (let rest = index; rest >= 10; rest = (rest / 10) | 0) digits++;
    if (pathLength + digits > maxNameBytes) json.fail('argument name too long', true);
    pathLength += digits;
    for (let rest = index, to = pathLength - 1; digits > 0; digits--, rest = (rest / 10) | 0)
      path[to--] = 0x30 + (rest % 10);
  };

  const enterMember = (): void => {
    json.skipBlanks();
    if (body[json.at] !== QUOTE) json.fail('key expected');
    const key = json.readString();
    pathLength = starts.at(-1)!;
    path[pathLength] = DOT;
    append(path, pathLength, pathLength + 1);
    if (key.end === key.start) append(EMPTY_KEY, 0, EMPTY_KEY.length);
    else append(key.buf, key.start, key.end);
    json.skipBlanks();
    if (body[json.at++] !== COLON) json.fail('colon expected');
  };

  const readDocument = (): void => {
    pathLength = 0;
    append(ROOT, 0, ROOT.length);
    for (;;) {
      json.skipBlanks();
      if (json.at >= body.length) json.fail('value expected');
      const opening = body[json.at]!;
      if (opening === OPEN_MAP || opening === OPEN_LIST) {
        if (starts.length >= limits.maxDepth) json.fail('nested deeper than the limit', true);
        json.at++;
        starts.push(pathLength);
        indexes.push(opening === OPEN_LIST ? 0 : -1);
        isNamed.push(false);
        json.skipBlanks();
        if (body[json.at] !== (opening === OPEN_LIST ? CLOSE_LIST : CLOSE_MAP)) {
          if (opening === OPEN_LIST) enterElement();
          else enterMember();
          continue;
        }
      } else {
        emit(json.readScalar());
      }
      // A value has ended, or an empty container is about to: close what ends here, then go to the next sibling.
      for (;;) {
        json.skipBlanks();
        if (starts.length === 0) return;
        const isList = indexes.at(-1)! >= 0;
        const byte = body[json.at];
        if (byte === (isList ? CLOSE_LIST : CLOSE_MAP)) {
          json.at++;
          pathLength = starts.pop()!;
          indexes.pop();
          isNamed.pop();
          continue;
        }
        if (byte !== COMMA) json.fail(json.at >= body.length ? 'unterminated document' : 'comma expected');
        json.at++;
        if (isList) enterElement();
        else enterMember();
        break;
      }
    }
  };

  const skipSeparators = (): void => {
    while (json.at < body.length && (isBlank(body[json.at]!) || body[json.at] === RECORD_SEPARATOR)) json.at++;
  };

  try {
    if (isSequence) skipSeparators();
    readDocument();
    while (isSequence && json.at < body.length) {
      skipSeparators();
      if (json.at < body.length) readDocument();
    }
    if (json.at < body.length) json.fail('something behind the document');
    return { error: null, isOverLimit: false, end: json.at };
  } catch (thrown) {
    if (!(thrown instanceof Malformed)) throw thrown;
    return {
      error: `JSON: ${thrown.reason} at byte ${thrown.at}.`,
      isOverLimit: thrown.isOverLimit,
      end: thrown.at,
    };
  }
};
