import type { Transaction } from '../engine/transaction.ts';
import { sourceId } from './source.ts';

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
const [slash, question, hash, colon, space] = [0x2f, 0x3f, 0x23, 0x3a, 0x20] as const;

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

/** Stores what the request line says; returns the range of the query string, empty when there is none. */
export const storeRequestLine = (tx: Transaction): { start: number; end: number } => {
  const { method, uri, httpVersion } = tx.request;
  const { arena } = tx;
  tx.addEntry(ids.method, '', method, 0, method.length);
  tx.addEntry(ids.protocol, '', httpVersion, 0, httpVersion.length);
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
  tx.addEntry(ids.line, '', chunk, start, end);

  const from = pathStart(uri);
  tx.addEntry(ids.uriRaw, '', uri, 0, uri.length);
  tx.addEntry(ids.uri, '', uri, from, uri.length);
  let fragment = uri.indexOf(hash, from);
  if (fragment === -1) fragment = uri.length;
  let queryAt = uri.indexOf(question, from);
  if (queryAt === -1 || queryAt > fragment) queryAt = fragment;
  tx.addEntry(ids.filename, '', uri, from, queryAt);
  let base = queryAt;
  while (base > from && uri[base - 1] !== slash && uri[base - 1] !== 0x5c) base--;
  tx.addEntry(ids.basename, '', uri, base, queryAt);
  const query = { start: Math.min(queryAt + 1, fragment), end: fragment };
  tx.addEntry(ids.query, '', uri, query.start, query.end);
  return query;
};
