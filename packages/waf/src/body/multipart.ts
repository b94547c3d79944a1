import { IS_SPACE } from '../bytes/ascii.ts';
import { type DispositionFacts, readDisposition } from './content-disposition.ts';
import { createDelimiterSearch } from './delimiter-search.ts';
import { readBoundary } from './multipart-boundary.ts';
import { type BodyLimits, type ByteSpan, emptySpan, type MultipartPart, type MultipartSink } from './sink.ts';

/** What ModSecurity's MULTIPART_ variables tell; `error` is the first reason why the body is not well-formed, or null. */
export interface MultipartFlags {
  error: string | null;
  isBoundaryQuoted: boolean;
  hasBoundaryWhitespace: boolean;
  isSemicolonMissing: boolean;
  hasDataBefore: boolean;
  hasDataAfter: boolean;
  hasHeaderFolding: boolean;
  hasInvalidHeaderFolding: boolean;
  hasInvalidQuoting: boolean;
  hasInvalidPart: boolean;
  hasLfLine: boolean;
  hasCrlfLine: boolean;
  /** 0: none; 1: something looks like a boundary but is not ours; 2: so far as any was seen, one of ours came later. */
  unmatchedBoundary: 0 | 1 | 2;
  /** More parts than the limit: the rest was not looked at. */
  isTruncated: boolean;
  /** Bytes of all files together. */
  filesCombinedSize: number;
}

/** MULTIPART_STRICT_ERROR. */
export const isStrictError = (flags: MultipartFlags): boolean =>
  flags.error !== null ||
  flags.isBoundaryQuoted ||
  flags.hasBoundaryWhitespace ||
  flags.isSemicolonMissing ||
  flags.hasDataBefore ||
  flags.hasDataAfter ||
  flags.hasHeaderFolding ||
  flags.hasInvalidHeaderFolding ||
  flags.hasInvalidQuoting ||
  flags.hasInvalidPart ||
  flags.hasLfLine ||
  flags.isTruncated;

/** MULTIPART_CRLF_LF_LINES. */
export const hasMixedLineEnds = (flags: MultipartFlags): boolean => flags.hasCrlfLine && flags.hasLfLine;

const [CR, LF, DASH, QUOTE] = [0x0d, 0x0a, 0x2d, 0x22] as const;
/** ModSecurity's line buffer: a longer header line is an error. */
const longestHeaderLine = 4096;
const mostHeaders = 64;

interface OpenPart {
  isInHeaders: boolean;
  headers: { name: string; value: string; line: string }[];
  disposition: DispositionFacts | null;
  dataStart: number;
  hasData: boolean;
}

const latin1 = (body: Uint8Array, start: number, end: number): string =>
  Buffer.from(body.buffer, body.byteOffset + start, end - start).toString('latin1');

const spanOf = (text: string): ByteSpan => {
  const buf = Buffer.from(text, 'latin1');
  return { buf, start: 0, end: buf.length };
};

/**
 * Parses a multipart/form-data body (RFC 7578) as strictly as ModSecurity 2 and 3, whose flags it answers. After an
 * error it goes on as far as it can, so that rules see also what a lenient backend would read; parts without a usable
 * name are handed over with an empty one, and so is a last part that no boundary closes. Never throws; linear time.
 */
export const parseMultipart = (
  body: Uint8Array,
  contentType: Uint8Array,
  sink: MultipartSink,
  limits: BodyLimits,
): MultipartFlags => {
  const boundary = readBoundary(Buffer.from(contentType).toString('latin1'));
  const flags: MultipartFlags = {
    error: boundary.error === null ? null : `Multipart: ${boundary.error}.`,
    isBoundaryQuoted: boundary.isQuoted,
    hasBoundaryWhitespace: boundary.hasWhitespace,
    isSemicolonMissing: boundary.isSemicolonMissing,
    hasDataBefore: false,
    hasDataAfter: false,
    hasHeaderFolding: false,
    hasInvalidHeaderFolding: false,
    hasInvalidQuoting: false,
    hasInvalidPart: false,
    hasLfLine: false,
    hasCrlfLine: false,
    unmatchedBoundary: 0,
    isTruncated: false,
    filesCombinedSize: 0,
  };
  if (boundary.error !== null || body.length === 0) return flags;

  const fail = (reason: string): void => {
    flags.error ??= `Multipart: ${reason}.`;
  };
  const delimiter = Buffer.from(`--${boundary.boundary}`, 'latin1');
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const search = createDelimiterSearch(bytes, delimiter);
  let nextDelimiter = search(0);
  let parts = 0;
  let boundaries = 0;
  let part: OpenPart | null = null;

  const finish = (open: OpenPart, dataEnd: number): void => {
    if (parts >= limits.maxArguments) {
      flags.isTruncated = true;
      fail('more parts than the limit');
      return;
    }
    parts++;
    if (open.isInHeaders) endHeaders(open, dataEnd);
    const { name, filename, extendedFilename } = open.disposition!;
    const closed: MultipartPart = {
      name: name ? spanOf(name) : emptySpan,
      filename: filename ? spanOf(filename) : null,
      extendedFilename: extendedFilename ? spanOf(extendedFilename) : null,
      type: open.headers.find((header) => header.name === 'content-type')?.value ?? '',
    };
    for (const header of open.headers) sink.header(closed, spanOf(header.line));
    const data = { buf: body, start: Math.min(open.dataStart, dataEnd), end: dataEnd };
    if (closed.filename) {
      flags.filesCombinedSize += data.end - data.start;
      sink.file(closed, data);
    } else {
      sink.field(closed, data);
    }
  };

  const endHeaders = (open: OpenPart, dataStart: number): void => {
    open.isInHeaders = false;
    open.dataStart = dataStart;
    const disposition = open.headers.find((header) => header.name === 'content-disposition');
    open.disposition = disposition
      ? readDisposition(disposition.value)
      : { name: null, filename: null, extendedFilename: null, error: null, isQuotingInvalid: false };
    const { name, filename, error, isQuotingInvalid } = open.disposition;
    if (isQuotingInvalid) flags.hasInvalidQuoting = true;
    if (!disposition) fail('part without a Content-Disposition header');
    else if (error !== null) fail(`invalid Content-Disposition header (${error})`);
    else if (!name) fail('Content-Disposition header without a name');
    // A crude backend looks for exactly this, and would take the file for a field without it.
    else if (filename && !disposition.value.includes('filename='))
      fail('invalid Content-Disposition header (filename)');
    if (!name) flags.hasInvalidPart = true;
  };

  /** One line of part headers, line end included in [start, end). */
  const readHeaderLine = (open: OpenPart, start: number, end: number): void => {
    const isCrlf = end - start > 1 && body[end - 2] === CR;
    if (isCrlf) flags.hasCrlfLine = true;
    else flags.hasLfLine = true;
    const textEnd = end - (isCrlf ? 2 : 1);
    if (textEnd === start) {
      endHeaders(open, end);
      return;
    }
    if (end - start > longestHeaderLine) {
      fail(`part header line over ${longestHeaderLine} bytes long`);
      return;
    }
    const line = latin1(body, start, textEnd);
    if (line.includes('\0')) {
      fail('NUL byte in part headers');
      return;
    }
    if (IS_SPACE[body[start]!] === 1) {
      const prefix = /^[\t-\r ]*/.exec(line)![0];
      flags.hasHeaderFolding = true;
      if (/[^\t ]/.test(prefix)) flags.hasInvalidHeaderFolding = true;
      const last = open.headers.at(-1);
      if (!last) {
        fail('folded line without a header');
        return;
      }
      if (last.value.length + line.length > longestHeaderLine) {
        fail('part header too long');
        return;
      }
      last.value += ` ${line.slice(prefix.length)}`;
      last.line += ` ${line.slice(prefix.length)}`;
      return;
    }
    const colon = line.indexOf(':');
    if (colon < 0) {
      fail('part header without a colon');
      return;
    }
    if (colon === 0) {
      fail('part header without a name');
      return;
    }
    const name = line.slice(0, colon).toLowerCase();
    if (/[^!-~]/.test(name)) fail('part header name with a character that is not allowed');
    if (open.headers.some((header) => header.name === name)) fail('duplicate part header');
    if (open.headers.length >= mostHeaders) {
      fail('too many part headers');
      return;
    }
    open.headers.push({ name, value: line.slice(colon + 1).replace(/^[\t ]+/, ''), line });
  };

  /** Whether body[start, end), which begins with the delimiter, is a boundary line; then `part` is the part it opens. */
  const readBoundaryLine = (start: number, end: number, previousEnd: number): 'final' | 'next' | 'none' => {
    if (previousEnd === 1) flags.hasLfLine = true;
    if (part !== null && !part.hasData) {
      flags.hasInvalidPart = true;
      // Headers that a boundary cuts off: what follows must not be swallowed as header lines.
      if (!part.isInHeaders) return 'none';
    }
    if (boundaries > 0) flags.unmatchedBoundary = 2;
    let at = start + delimiter.length;
    const isFinal = body[at] === DASH && body[at + 1] === DASH && at + 1 < end;
    if (isFinal) at += 2;
    const lineEnd = at;
    while (at < end && (body[at] === 0x20 || body[at] === 0x09)) at++;
    // RFC 2046 allows this padding, ModSecurity does not; the backend may well see a boundary here.
    if (at > lineEnd) fail('invalid boundary');
    const rest = latin1(body, at, end);
    if (rest === '\r\n') flags.hasCrlfLine = true;
    else if (rest === '\n') flags.hasLfLine = true;
    else if (!(isFinal && rest === '' && end === body.length)) {
      fail('invalid boundary');
      return 'none';
    }
    boundaries++;
    if (part !== null) finish(part, Math.max(start - previousEnd, part.isInHeaders ? 0 : part.dataStart));
    part = isFinal ? null : { isInHeaders: true, headers: [], disposition: null, dataStart: end, hasData: false };
    return isFinal ? 'final' : 'next';
  };

  const name = delimiter.subarray(2);
  const isNameAt = (at: number): boolean => bytes.subarray(at, at + name.length).equals(name);

  const noteLookalike = (start: number, end: number): void => {
    let at = start + 2;
    if (flags.isBoundaryQuoted && body[at] === QUOTE && isNameAt(at + 1)) {
      fail('invalid boundary (quotes)');
      return;
    }
    while (at < end && IS_SPACE[body[at]!] === 1) at++;
    if (at > start + 2 && isNameAt(at)) {
      fail('invalid boundary (whitespace)');
      return;
    }
    flags.unmatchedBoundary = 1;
  };

  // Length of the line end before the line at hand: 2 for CRLF, 1 for LF, 0 at the start of the body.
  let previousEnd = 0;
  let isComplete = false;
  for (let start = 0; start < body.length && !flags.isTruncated; ) {
    const newline = bytes.indexOf(LF, start);
    const end = newline < 0 ? body.length : newline + 1;
    if (nextDelimiter >= 0 && nextDelimiter < start) nextDelimiter = search(start);
    let kind: 'final' | 'next' | 'none' = 'none';
    if (nextDelimiter === start) kind = readBoundaryLine(start, end, previousEnd);
    else if (body[start] === DASH && body[start + 1] === DASH && end - start > 3) noteLookalike(start, end);
    else if (nextDelimiter >= 0 && nextDelimiter < end) flags.unmatchedBoundary = 1;

    if (kind === 'final') {
      isComplete = true;
      if (end < body.length) flags.hasDataAfter = true;
      break;
    }
    if (kind === 'none') {
      const open = part as OpenPart | null;
      if (open === null) flags.hasDataBefore = true;
      else if (!open.isInHeaders) open.hasData = true;
      else if (newline < 0) fail('part headers without an end');
      else readHeaderLine(open, start, end);
    }
    previousEnd = newline < 0 ? 0 : end - start > 1 && body[end - 2] === CR ? 2 : 1;
    start = end;
  }
  if (!isComplete && !flags.isTruncated) {
    fail(boundaries === 0 ? 'no boundary in the body' : 'final boundary missing');
    const open = part as OpenPart | null;
    if (open !== null) finish(open, body.length);
  }
  return flags;
};
