import { HEX_VALUE } from '../bytes/ascii.ts';
import type { OperatorInstance } from './operator.ts';

/** @validateUrlEncoding: the value has a `%` that two hexadecimal digits do not follow. */
export const validateUrlEncoding: OperatorInstance = {
  match(buf, start, end) {
    for (let at = start; at < end; at++) {
      if (buf[at] !== 0x25) continue;
      if (at + 2 >= end || HEX_VALUE[buf[at + 1]!]! < 0 || HEX_VALUE[buf[at + 2]!]! < 0) return true;
      at += 2;
    }
    return false;
  },
};

/** @validateUtf8Encoding: the value is not UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above 10FFFF). */
export const validateUtf8Encoding: OperatorInstance = {
  match(buf, start, end) {
    for (let at = start; at < end; ) {
      const lead = buf[at]!;
      if (lead < 0x80) {
        at++;
        continue;
      }
      const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
      if (lead < 0xc2 || lead > 0xf4 || at + size > end) return true;
      for (let i = 1; i < size; i++) if ((buf[at + i]! & 0xc0) !== 0x80) return true;
      const second = buf[at + 1]!;
      if (lead === 0xe0 && second < 0xa0) return true;
      if (lead === 0xed && second > 0x9f) return true;
      if (lead === 0xf0 && second < 0x90) return true;
      if (lead === 0xf4 && second > 0x8f) return true;
      at += size;
    }
    return false;
  },
};
