import { undoContentCodings } from '../../body/content-coding.ts';
import { parseJson } from '../../body/json.ts';
import { parseMultipart } from '../../body/multipart.ts';
import type { BodyLimits } from '../../body/sink.ts';
import { asUtf8, isReencoded } from '../../body/text-encoding.ts';
import { parseUrlencoded } from '../../body/urlencoded.ts';
import { parseXml } from '../../body/xml.ts';
import { latin1 } from '../../bytes/bytes.ts';
import type { KnownNames } from '../../bytes/known-names.ts';
import { sourceId } from '../../model/source.ts';
import type { Transaction } from '../../model/transaction.ts';
import { bodyArguments, multipartEntries, queryArguments, xmlEntries } from './argument-sinks.ts';
import { requestHeader } from './headers.ts';
import { createContentReader } from './read-by-content.ts';

const requestBodySource = sourceId('requestBody');
const requestHeaderSource = sourceId('requestHeader');

const parserLimits = (tx: Transaction): BodyLimits => ({
  maxArguments: tx.limits.maxArguments,
  maxDepth: tx.limits.maxDepth,
});

/** Splits the query string into ARGS_GET. */
export const storeQueryArguments = (tx: Transaction, start: number, end: number, names: KnownNames): void => {
  if (start >= end) return;
  const { uri } = tx.request;
  const { argumentSeparator } = tx.settings;
  const facts = parseUrlencoded(
    uri,
    start,
    end,
    argumentSeparator,
    queryArguments(tx, names),
    tx.arena,
    parserLimits(tx),
  );
  tx.urlencodedErrors += facts.invalidEncodings;
  if (facts.isTruncated) tx.limitsHit.add('arguments');
};

const contentType = (tx: Transaction): string => {
  const header = requestHeader(tx, 'content-type');
  return header === undefined ? '' : latin1(header.buf, header.start, header.end);
};

/** The processor that the media type asks for; rules may choose another (`ctl:requestBodyProcessor`). */
export const chooseBodyProcessor = (tx: Transaction): void => {
  const type = contentType(tx).toLowerCase();
  if (type.startsWith('application/x-www-form-urlencoded')) tx.bodyProcessor = 'URLENCODED';
  else if (type.startsWith('multipart/form-data')) tx.bodyProcessor = 'MULTIPART';
};

/** Checks the body against its limits and parses it as the chosen processor says, or else by what it looks like. */
export const storeRequestBody = (tx: Transaction, names: KnownNames): void => {
  const { body, bodyTruncated } = tx.request;
  if (bodyTruncated === true) tx.inboundDataError = 1;
  if (body === null || !tx.isRequestBodyAccessed) return;
  const plain = withoutCodings(tx, body);
  const inspected = plain === null ? null : withinLimit(tx, plain);
  if (inspected === null) return;
  tx.body = { ...tx.body, bytes: inspected };
  if (hasBodyVariable(tx)) {
    const text = tx.bodyProcessor === '' ? asUtf8(inspected) : inspected;
    tx.addEntry(requestBodySource, '', '', text, 0, text.length);
    // Read as UTF-16 by what it begins with, which no application has to do.
    if (isReencoded(inspected, text)) tx.addEntry(requestBodySource, '', '', inspected, 0, inspected.length);
  }
  parseBody(tx, inspected, names);
  // An application that does not undo codings reads what was sent; a compressed body can be made to be harmless and a form at once.
  if (plain !== body) createContentReader(tx, names, (error) => failBody(tx, error)).asSent(body, contentType(tx));
};

/**
 * Whether there is REQUEST_BODY: for forms and for what no processor takes always, for other bodies where rules force it (the
 * baseline does so for XML and multipart). ModSecurity 3 always has it.
 */
const hasBodyVariable = (tx: Transaction): boolean =>
  tx.isRequestBodyForced ||
  tx.settings.hasRequestBodyAlways ||
  tx.bodyProcessor === 'URLENCODED' ||
  tx.bodyProcessor === '';

/** The body as an application sees it that undoes Content-Encoding; null when it can't be undone within the limit. */
const withoutCodings = (tx: Transaction, body: Uint8Array): Uint8Array | null => {
  const headers = tx.entriesNamed(requestHeaderSource, 'content-encoding');
  if (headers.length === 0) return body;
  const codings = headers.map(({ buf, start, end }) => latin1(buf, start, end)).join();
  const decoded = undoContentCodings(body, codings, tx.requestBodyLimit);
  if ('bytes' in decoded) return decoded.bytes;
  if ('tooLong' in decoded) {
    refuseSize(tx);
    return null;
  }
  failBody(tx, decoded.error);
  return body;
};

/** The part of the body to inspect; null when it is too large and the rules want such requests refused. */
const withinLimit = (tx: Transaction, body: Uint8Array): Uint8Array | null => {
  const { settings } = tx;
  const limit =
    tx.bodyProcessor === 'MULTIPART'
      ? tx.requestBodyLimit
      : Math.min(tx.requestBodyLimit, settings.requestBodyNoFilesLimit);
  if (body.length <= limit) return body;
  if (settings.requestBodyLimitAction === 'reject') {
    refuseSize(tx);
    if (tx.engineMode === 'on') return null;
  }
  tx.limitsHit.add('request_body');
  tx.inboundDataError = 1;
  return body.subarray(0, limit);
};

const refuseSize = (tx: Transaction): void => {
  tx.limitsHit.add('request_body');
  tx.inboundDataError = 1;
  tx.interruption ??= { kind: 'block', status: 413, url: null, rule: null };
};

const parseBody = (tx: Transaction, body: Uint8Array, names: KnownNames): void => {
  const limits = parserLimits(tx);
  const content = createContentReader(tx, names, (error) => failBody(tx, error));
  switch (tx.bodyProcessor) {
    case 'URLENCODED': {
      const { argumentSeparator } = tx.settings;
      const facts = parseUrlencoded(
        body,
        0,
        body.length,
        argumentSeparator,
        bodyArguments(tx, names),
        tx.arena,
        limits,
      );
      tx.urlencodedErrors += facts.invalidEncodings;
      if (facts.isTruncated) {
        tx.limitsHit.add('arguments');
        failBody(tx, 'More arguments than SecArgumentsLimit allows');
      }
      content.disguised(body);
      return;
    }
    case 'MULTIPART': {
      const header = requestHeader(tx, 'content-type');
      const type = header === undefined ? new Uint8Array(0) : header.buf.subarray(header.start, header.end);
      const flags = parseMultipart(body, type, multipartEntries(tx, names, content.typedPart), limits);
      tx.body = { ...tx.body, multipart: flags, filesCombinedSize: flags.filesCombinedSize };
      if (flags.isTruncated) tx.limitsHit.add('arguments');
      if (flags.error !== null) failBody(tx, flags.error);
      return;
    }
    case 'JSON': {
      const facts = parseJson(body, bodyArguments(tx, names), tx.arena, limits);
      if (facts.error !== null) failBody(tx, facts.error);
      return;
    }
    case 'XML': {
      const facts = parseXml(body, xmlEntries(tx), tx.arena, limits);
      if (facts.error !== null) failBody(tx, facts.error);
      return;
    }
    case '':
      content.body(body, contentType(tx));
      return;
    default:
      tx.bodyProcessor satisfies never;
  }
};

const failBody = (tx: Transaction, error: string): void => {
  tx.body = { ...tx.body, isParseFailed: true, error };
};
