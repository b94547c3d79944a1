import type { ByteReader } from './byte-reader.ts';
import { readTypedData, type TypedData } from './typed-data.ts';

// A HELLO has five items; a longer list is an attempt to make us work.
const MAX_ITEMS = 32;

/** An item of a KV-LIST; strings are decoded as Latin-1 (the protocol's own values are ASCII), other bytes are left out. */
export type Item = null | boolean | number | bigint | string;

/** Reads a KV-LIST to the end of the frame, at most 32 items; the last of equal names wins. Throws ProtocolError. */
export const readKeyValues = (reader: ByteReader): Map<string, Item> => {
  const items = new Map<string, Item>();
  const data: TypedData = { type: 'null', scalar: null, start: 0, end: 0 };
  const text = (start: number, end: number) => Buffer.from(reader.bytes.subarray(start, end)).toString('latin1');
  for (let count = 0; reader.position < reader.end && count < MAX_ITEMS; count++) {
    const length = reader.varint();
    const start = reader.skip(length);
    const name = text(start, start + length);
    readTypedData(reader, data);
    items.set(name, data.type === 'string' ? text(data.start, data.end) : data.scalar);
  }
  return items;
};
