import { ByteReader } from './byte-reader.ts';
import { ProtocolError, Status } from './status.ts';

/** Called for each header with offsets into the bytes that were handed in. */
export type HeaderVisitor = (nameStart: number, nameEnd: number, valueStart: number, valueEnd: number) => void;

const invalid = (message: string) => new ProtocolError(Status.invalidFrame, message);

/**
 * Walks a sample of HAProxy's req.hdrs_bin or res.hdrs_bin in `bytes[start..end)` without allocating for each header.
 * The form is pairs of length-prefixed name and value, closed by an empty pair (configuration manual, req.hdrs_bin).
 * Throws ProtocolError when it is cut short, has no closing pair, has bytes after it, or a header without a name.
 */
export const visitHdrsBin = (bytes: Uint8Array, start: number, end: number, visit: HeaderVisitor): void => {
  const reader = new ByteReader(bytes, start, end);
  for (;;) {
    const nameLength = reader.varint();
    const nameStart = reader.skip(nameLength);
    const valueLength = reader.varint();
    const valueStart = reader.skip(valueLength);
    if (nameLength === 0) {
      if (valueLength !== 0) throw invalid('header without a name');
      if (reader.position !== end) throw invalid('bytes after the end of the headers');
      return;
    }
    visit(nameStart, nameStart + nameLength, valueStart, valueStart + valueLength);
  }
};

/** The headers of a req.hdrs_bin sample as [name, value] views of `bytes`, in order. Throws as `visitHdrsBin`. */
export const decodeHdrsBin = (bytes: Uint8Array): [name: Uint8Array, value: Uint8Array][] => {
  const headers: [Uint8Array, Uint8Array][] = [];
  const view = (start: number, end: number) => new Uint8Array(bytes.buffer, bytes.byteOffset + start, end - start);
  visitHdrsBin(bytes, 0, bytes.length, (nameStart, nameEnd, valueStart, valueEnd) => {
    headers.push([view(nameStart, nameEnd), view(valueStart, valueEnd)]);
  });
  return headers;
};
