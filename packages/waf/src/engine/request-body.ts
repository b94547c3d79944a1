import { parseJson } from '../body/json.ts';
import { parseMultipart } from '../body/multipart.ts';
import type { BodyLimits } from '../body/sink.ts';
import { parseUrlencoded } from '../body/urlencoded.ts';
import { parseXml } from '../body/xml.ts';
import { requestHeader } from '../variables/headers.ts';
import { sourceId } from '../variables/source.ts';
import { bodyArguments, multipartEntries, queryArguments, xmlEntries } from './argument-sinks.ts';
import { latin1 } from './bytes.ts';
import type { KnownNames } from './known-names.ts';
import type { Transaction } from './transaction.ts';

const requestBodySource = sourceId('requestBody');

const parserLimits = (tx: Transaction): BodyLimits => ({
  maxArguments: tx.limits.maxArguments,
  maxDepth: tx.limits.maxDepth,
});

/** Splits the query string into ARGS_GET. */
export const storeQueryArguments = (tx: Transaction, start: number, end: number, names: KnownNames): void => {
  if (start >= end) return;
  const { uri } = tx.request;
  const { argumentSeparator } = tx.program.settings;
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

/** The processor that the media type asks for; rules may choose another (`ctl:requestBodyProcessor`). */
export const chooseBodyProcessor = (tx: Transaction): void => {
  const header = requestHeader(tx, 'content-type');
  if (header === undefined) return;
  const type = latin1(header.buf, header.start, header.end).toLowerCase();
  if (type.startsWith('application/x-www-form-urlencoded')) tx.bodyProcessor = 'URLENCODED';
  else if (type.startsWith('multipart/form-data')) tx.bodyProcessor = 'MULTIPART';
};

/** Checks the body against its limits and parses it as the chosen processor says. */
export const storeRequestBody = (tx: Transaction, names: KnownNames): void => {
  const { body, bodyTruncated } = tx.request;
  if (bodyTruncated === true) tx.inboundDataError = 1;
  if (body === null || !tx.isRequestBodyAccessed) return;
  const inspected = withinLimit(tx, body);
  if (inspected === null) return;
  tx.body = { ...tx.body, length: inspected.length };
  const isForced = tx.isRequestBodyForced || tx.bodyProcessor === 'URLENCODED';
  // As ModSecurity 2: REQUEST_BODY is there for forms, and for what no processor has parsed when a rule asks for it.
  if (isForced && (tx.bodyProcessor === 'URLENCODED' || tx.bodyProcessor === '')) {
    tx.addEntry(requestBodySource, '', '', inspected, 0, inspected.length);
  }
  parseBody(tx, inspected, names);
};

/** The part of the body to inspect; null when it is too large and the rules want such requests refused. */
const withinLimit = (tx: Transaction, body: Uint8Array): Uint8Array | null => {
  const { settings } = tx.program;
  const limit =
    tx.bodyProcessor === 'MULTIPART'
      ? tx.requestBodyLimit
      : Math.min(tx.requestBodyLimit, settings.requestBodyNoFilesLimit);
  if (body.length <= limit) return body;
  tx.limitsHit.add('request_body');
  tx.inboundDataError = 1;
  if (settings.requestBodyLimitAction === 'reject') {
    tx.interruption ??= { kind: 'block', status: 413, url: null, rule: null };
    if (tx.engineMode === 'on') return null;
  }
  return body.subarray(0, limit);
};

const parseBody = (tx: Transaction, body: Uint8Array, names: KnownNames): void => {
  const limits = parserLimits(tx);
  switch (tx.bodyProcessor) {
    case 'URLENCODED': {
      const { argumentSeparator } = tx.program.settings;
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
      return;
    }
    case 'MULTIPART': {
      const header = requestHeader(tx, 'content-type');
      const contentType = header === undefined ? new Uint8Array(0) : header.buf.subarray(header.start, header.end);
      const flags = parseMultipart(body, contentType, multipartEntries(tx, names), limits);
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
      return;
    default:
      tx.bodyProcessor satisfies never;
  }
};

const failBody = (tx: Transaction, error: string): void => {
  tx.body = { ...tx.body, isParseFailed: true, error };
};
