import { HEX_VALUE } from '../bytes/ascii.ts';
import type { ArgSink, BodyLimits, ByteArena, ByteSpan } from './sink.ts';

/** What decoding a query string or form found. */
export interface UrlencodedFacts {
  /** How many `%` no two hexadecimal digits follow. */
  readonly invalidEncodings: number;
  /** Whether arguments were left out because there were more than the limit. */
  readonly isTruncated: boolean;
}

const [PERCENT, PLUS, EQUALS, SPACE] = [0x25, 0x2b, 0x3d, 0x20] as const;

/**
 * Splits buf[start, end) at `separator`, each piece at its first `=`, and hands both halves decoded (`+`, `%HH`; an
 * invalid `%` stays) to the sink. Empty pieces are passed over. Halves with nothing to decode are ranges of `buf`.
 */
export const parseUrlencoded = (
  buf: Uint8Array,
  start: number,
  end: number,
  separator: number,
  sink: ArgSink,
  arena: ByteArena,
  limits: BodyLimits,
): UrlencodedFacts => {
  let invalidEncodings = 0;
  let count = 0;

  const decode = (from: number, to: number): ByteSpan => {
    arena.reserve(to - from);
    const { chunk, at } = arena;
    let write = at;
    for (let read = from; read < to; read++) {
      const byte = buf[read]!;
      if (byte === PERCENT) {
        const value = read + 2 < to ? (HEX_VALUE[buf[read + 1]!]! << 4) | HEX_VALUE[buf[read + 2]!]! : -1;
        if (value >= 0) {
          chunk[write++] = value;
          read += 2;
        } else {
          chunk[write++] = byte;
          invalidEncodings++;
        }
      } else {
        chunk[write++] = byte === PLUS ? SPACE : byte;
      }
    }
    arena.at = write;
    return { buf: chunk, start: at, end: write };
  };

  for (let from = start; from < end; ) {
    let equals = -1;
    let isNameEncoded = false;
    let isValueEncoded = false;
    let at = from;
    for (; at < end; at++) {
      const byte = buf[at]!;
      if (byte === separator) break;
      if (byte === EQUALS && equals < 0) equals = at;
      else if (byte === PERCENT || byte === PLUS) {
        if (equals < 0) isNameEncoded = true;
        else isValueEncoded = true;
      }
    }
    if (at > from) {
      if (count === limits.maxArguments) return { invalidEncodings, isTruncated: true };
      count++;
      const nameEnd = equals < 0 ? at : equals;
      const valueStart = equals < 0 ? at : equals + 1;
      const name = isNameEncoded ? decode(from, nameEnd) : { buf, start: from, end: nameEnd };
      const value = isValueEncoded ? decode(valueStart, at) : { buf, start: valueStart, end: at };
      sink.argument(name, value);
    }
    from = at + 1;
  }
  return { invalidEncodings, isTruncated: false };
};
