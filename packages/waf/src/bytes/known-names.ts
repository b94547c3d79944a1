import { copyOf, latin1 } from './bytes.ts';

const maxNames = 8_192;
const maxNameBytes = 64;

/** A name as sent (Latin-1), and in lower case. */
export type KnownName = { readonly bytes: Uint8Array; readonly name: string; readonly key: string };

/**
 * Turns name bytes into strings through a bounded table: header and field names repeat from request to request, and building
 * a string costs more than comparing a few bytes. When the table is full it starts again.
 */
export const createKnownNames = () => {
  let table: (KnownName | undefined)[] = new Array<KnownName | undefined>(1_024).fill(undefined);
  let size = 0;
  const nameOf = (buf: Uint8Array, start: number, end: number): KnownName => {
    if (end - start > maxNameBytes) return toName(buf, start, end);
    let hash = end - start;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ buf[at]!, 0x01000193);
    const slot = (hash ^ (hash >>> 15)) & (table.length - 1);
    const known = table[slot];
    if (known !== undefined && equals(known.bytes, buf, start, end)) return known;
    const name = toName(buf, start, end);
    if (known === undefined) size++;
    if (size > table.length / 2 && table.length < maxNames) {
      table = new Array<KnownName | undefined>(table.length * 2).fill(undefined);
      size = 1;
    }
    table[slot & (table.length - 1)] = name;
    return name;
  };
  return { nameOf };
};

export type KnownNames = ReturnType<typeof createKnownNames>;

const toName = (buf: Uint8Array, start: number, end: number): KnownName => {
  const name = latin1(buf, start, end);
  return { bytes: copyOf(buf, start, end), name, key: name.toLowerCase() };
};

const equals = (bytes: Uint8Array, buf: Uint8Array, start: number, end: number): boolean => {
  if (bytes.length !== end - start) return false;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== buf[start + at]) return false;
  return true;
};
