import { createDelimiterSearch } from './delimiter-search.ts';
import { type ByteSpan, emptySpan } from './sink.ts';

/** One part of a multipart body that is no form: as lenient a reading as any application's. Strings are Latin-1. */
export interface MimePart {
  /** Content-Type as sent; empty when it has none. */
  readonly type: string;
  readonly name: string | null;
  /** `filename`, or `name` of its Content-Type. */
  readonly filename: string | null;
  /** With base64 and quoted-printable undone. */
  readonly content: Uint8Array;
}

const [DASH, LF, CR] = [0x2d, 0x0a, 0x0d] as const;
const longestBoundary = 256;

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

/** The value of a parameter such as `boundary` in a header's value; undefined when it is not there. */
const parameter = (header: string, name: string): string | undefined => {
  const found = new RegExp(`[;\\s]${name}\\*?\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]*))`, 'i').exec(header);
  return found === null ? undefined : (found[1]?.replaceAll(/\\(.)/g, '$1') ?? found[2]);
};

const quotedPrintable = (text: string): Uint8Array =>
  Buffer.from(
    text
      .replaceAll(/=[\t ]*\r?\n/g, '')
      .replaceAll(/=([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );

const undoTransferEncoding = (content: Uint8Array, encoding: string): Uint8Array => {
  if (encoding === 'base64') return Buffer.from(latin1(content), 'base64');
  return encoding === 'quoted-printable' ? quotedPrintable(latin1(content)) : content;
};

const readPart = (bytes: Uint8Array): MimePart => {
  const limit = latin1(bytes.subarray(0, 16_384));
  const blank = /^\r?\n|\r?\n\r?\n/.exec(limit);
  const head = blank === null ? '' : limit.slice(0, blank.index).replaceAll(/\r?\n[\t ]+/g, ' ');
  const content = blank === null ? bytes : bytes.subarray(blank.index + blank[0].length);
  const header = (name: string): string => new RegExp(`^${name}[\\t ]*:(.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';
  const type = header('content-type');
  const disposition = header('content-disposition');
  const encoding = header('content-transfer-encoding').toLowerCase();
  return {
    type,
    name: parameter(disposition, 'name') ?? null,
    filename: parameter(disposition, 'filename') ?? parameter(type, 'name') ?? null,
    content: undoTransferEncoding(content, encoding),
  };
};

/** The boundary that a multipart Content-Type names, or null. */
export const boundaryOf = (contentType: string): string | null => parameter(contentType, 'boundary') ?? null;

/** The boundary that a body shows in its first line, or null: what an application may find that looks for no header. */
export const boundaryIn = (body: Uint8Array): string | null =>
  /^--([^\r\n]{1,256}?)[\t ]*\r?\n/.exec(latin1(body.subarray(0, longestBoundary + 8)))?.[1] ?? null;

/**
 * Splits a multipart body (RFC 2046) at the lines that begin with the boundary. What stands before the first and behind the
 * last is a part as well. Null when no line holds the boundary.
 */
export const splitMime = (body: Uint8Array, boundary: string, most: number): MimePart[] | 'too many' | null => {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const parts: MimePart[] = [];
  const add = (start: number, end: number, hasHeaders: boolean): void => {
    const piece = body.subarray(start, Math.max(start, end));
    if (hasHeaders) parts.push(readPart(piece));
    else if (latin1(piece).trim() !== '') parts.push({ type: '', name: null, filename: null, content: piece });
  };
  let start = 0;
  let isInside = false;
  let found = 0;
  const search = createDelimiterSearch(bytes, delimiter);
  for (let at = search(0); at !== -1; at = search(at + delimiter.length)) {
    if (at > 0 && bytes[at - 1] !== LF) continue;
    if (parts.length >= most) return 'too many';
    found++;
    const textEnd = at - (at > 1 && bytes[at - 2] === CR ? 2 : at > 0 ? 1 : 0);
    if (at > 0) add(start, textEnd, isInside);
    const behind = at + delimiter.length;
    isInside = !(bytes[behind] === DASH && bytes[behind + 1] === DASH);
    const newline = bytes.indexOf(LF, behind);
    start = newline === -1 ? body.length : newline + 1;
  }
  if (found === 0) return null;
  if (start < body.length) add(start, body.length, isInside);
  return parts;
};

/** A string of a part as bytes, the empty span for none. */
export const spanOfText = (text: string | null): ByteSpan => {
  if (text === null) return emptySpan;
  const buf = Buffer.from(text, 'latin1');
  return { buf, start: 0, end: buf.length };
};
