import { HEX_VALUE } from '../../bytes/ascii.ts';
import { sourceId } from '../../model/source.ts';
import type { Transaction } from '../../model/transaction.ts';

const ids = {
  method: sourceId('requestMethod'),
  protocol: sourceId('requestProtocol'),
  uri: sourceId('requestUri'),
  uriRaw: sourceId('requestUriRaw'),
  line: sourceId('requestLine'),
  filename: sourceId('requestFilename'),
  basename: sourceId('requestBasename'),
  query: sourceId('queryString'),
};
const [slash, backslash, question, hash, colon, space, percent] = [0x2f, 0x5c, 0x3f, 0x23, 0x3a, 0x20, 0x25] as const;

/** Offset behind `scheme://authority` of an absolute URI, else 0. */
const pathStart = (uri: Uint8Array): number => {
  if (uri[0] === slash) return 0;
  let at = 0;
  while (at < uri.length && isSchemeByte(uri[at]!)) at++;
  if (at === 0 || uri[at] !== colon || uri[at + 1] !== slash || uri[at + 2] !== slash) return 0;
  at += 3;
  while (at < uri.length && uri[at] !== slash && uri[at] !== question) at++;
  return at;
};

const isSchemeByte = (byte: number): boolean =>
  (byte >= 0x61 && byte <= 0x7a) ||
  (byte >= 0x41 && byte <= 0x5a) ||
  (byte >= 0x30 && byte <= 0x39) ||
  byte === 0x2b ||
  byte === 0x2d ||
  byte === 0x2e;

/** REQUEST_FILENAME and REQUEST_BASENAME: the path with its percent-encoding undone once, as ModSecurity gets it from the server. */
const storePath = (tx: Transaction, uri: Uint8Array, from: number, to: number): void => {
  let [buf, start, end] = [uri, from, to];
  const percentAt = uri.indexOf(percent, from);
  if (percentAt !== -1 && percentAt < to) {
    tx.arena.reserve(to - from);
    buf = tx.arena.chunk;
    start = tx.arena.at;
    end = decodePath(uri, from, to, buf, start);
    tx.arena.at = end;
  }
  tx.addEntry(ids.filename, '', '', buf, start, end);
  let base = end;
  while (base > start && buf[base - 1] !== slash && buf[base - 1] !== backslash) base--;
  tx.addEntry(ids.basename, '', '', buf, base, end);
};

/** Decodes `%HH`; what is not a valid encoding, and `+`, stay. Returns the end of what was written. */
const decodePath = (uri: Uint8Array, from: number, to: number, out: Uint8Array, at: number): number => {
  let end = at;
  for (let index = from; index < to; index++) {
    const byte = uri[index]!;
    const high = byte === percent && index + 2 < to ? HEX_VALUE[uri[index + 1]!]! : -1;
    const low = high >= 0 ? HEX_VALUE[uri[index + 2]!]! : -1;
    if (low >= 0) {
      out[end++] = high * 16 + low;
      index += 2;
    } else out[end++] = byte;
  }
  return end;
};

/** Stores what the request line says; returns the range of the query string, empty when there is none. */
export const storeRequestLine = (tx: Transaction): { start: number; end: number } => {
  const { method, uri, httpVersion } = tx.request;
  const { arena } = tx;
  tx.addEntry(ids.method, '', '', method, 0, method.length);
  tx.addEntry(ids.protocol, '', '', httpVersion, 0, httpVersion.length);
  const size = method.length + uri.length + httpVersion.length + 2;
  arena.reserve(size);
  const { chunk, at: start } = arena;
  chunk.set(method, start);
  chunk[start + method.length] = space;
  chunk.set(uri, start + method.length + 1);
  let end = start + method.length + 1 + uri.length;
  // An HTTP/0.9 request line has no version.
  if (httpVersion.length > 0) {
    chunk[end++] = space;
    chunk.set(httpVersion, end);
    end += httpVersion.length;
  }
  arena.at = end;
  tx.addEntry(ids.line, '', '', chunk, start, end);

  const from = pathStart(uri);
  tx.addEntry(ids.uriRaw, '', '', uri, 0, uri.length);
  tx.addEntry(ids.uri, '', '', uri, from, uri.length);
  let fragment = uri.indexOf(hash, from);
  if (fragment === -1) fragment = uri.length;
  let queryAt = uri.indexOf(question, from);
  if (queryAt === -1 || queryAt > fragment) queryAt = fragment;
  storePath(tx, uri, from, queryAt);
  const query = { start: Math.min(queryAt + 1, fragment), end: fragment };
  tx.addEntry(ids.query, '', '', uri, query.start, query.end);
  return query;
};
