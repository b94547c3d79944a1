import {
  formLikeness,
  isBinary,
  isJsonType,
  isRecordType,
  isXmlType,
  mediaTypeOf,
  shapeOf,
  stringsIn,
  textsIn,
} from '../../body/body-shape.ts';
import { parseJson } from '../../body/json.ts';
import { boundaryIn, boundaryOf, type MimePart, spanOfText, splitMime } from '../../body/mime-parts.ts';
import type { BodyLimits } from '../../body/sink.ts';
import { asUtf8, isReencoded } from '../../body/text-encoding.ts';
import { parseUrlencoded } from '../../body/urlencoded.ts';
import { parseXml } from '../../body/xml.ts';
import { latin1 } from '../../bytes/bytes.ts';
import type { KnownNames } from '../../bytes/known-names.ts';
import { sourceId } from '../../model/source.ts';
import type { Transaction } from '../../model/transaction.ts';
import { jsDecode } from '../../transformations/js-decode.ts';
import { bodyArguments, storeFile, xmlEntries } from './argument-sinks.ts';

const ids = { argument: sourceId('bodyArgument') };
/** Name of the argument that a text without names becomes. */
const textName = 'body';
const deepestMultipart = 4;
/** How many times more values than a request may have arguments are looked at in a file of JSON. */
const fileFactor = 20;

const backslash = 0x5c;
const hidingEscape = /\\(?:u[0-9a-f]{4}|x[0-9a-f]{2})/i;

/** Says why a body could not be read to its end: REQBODY_ERROR. */
export type Fail = (error: string) => void;

/** Reads bodies that no processor takes the way a careless application would, so that rules see what it sees. */
export const createContentReader = (tx: Transaction, names: KnownNames, fail: Fail) => {
  /** What is left of the arguments that a body may have; `factor` times as many for what is no set of arguments. */
  const remaining = (factor = 1): BodyLimits => ({
    maxArguments: Math.max(0, tx.limits.maxArguments * factor - tx.entriesOf(ids.argument).length),
    maxDepth: tx.limits.maxDepth,
  });

  const overLimit = (error: string): void => {
    tx.limitsHit.add('arguments');
    fail(error);
  };

  const addText = (bytes: Uint8Array, start = 0, end = bytes.length): void => {
    if (end === start) return;
    tx.argsCombinedSize += end - start;
    tx.addEntry(ids.argument, textName, textName, bytes, start, end);
  };

  /** Whether it was JSON to its end. A file may be long: what is beyond its limit is looked at as one text. */
  const readJson = (bytes: Uint8Array, isFile: boolean): boolean => {
    const limits = remaining(isFile ? fileFactor : 1);
    const { error, isOverLimit, end } = parseJson(bytes, bodyArguments(tx, names), tx.arena, limits, true);
    if (isOverLimit && isFile) addText(bytes, end);
    else if (isOverLimit) overLimit(error!);
    return error === null;
  };

  /** Whether it was XML to its end, and nothing but that. */
  const readXml = (bytes: Uint8Array, isFile: boolean): boolean => {
    const { error, isOverLimit, unread } = parseXml(bytes, xmlEntries(tx), tx.arena, remaining(), true);
    if (isOverLimit) overLimit(error!);
    // An application would read texts that we did not. Drawings (SVG) declare some.
    if (unread === 'texts' && !isFile) fail(error!);
    return error === null && unread === 'nothing';
  };

  const readPart = (part: MimePart, depth: number): void => {
    const { type, name, filename, content } = part;
    if (filename !== null) {
      const span = spanOfText(filename);
      const file = { name: spanOfText(name), filename: span, extendedFilename: null, type };
      storeFile(tx, names, file, { buf: content, start: 0, end: content.length });
    }
    read(content, type, filename !== null, depth + 1);
  };

  /** Whether it was multipart to its end. */
  const readMultipart = (bytes: Uint8Array, boundary: string | null, depth: number): boolean => {
    if (boundary === null) return false;
    if (depth >= deepestMultipart) {
      overLimit('Multipart: nested deeper than the limit.');
      return true;
    }
    const parts = splitMime(bytes, boundary, tx.limits.maxArguments);
    if (parts === null) return false;
    if (parts === 'too many') {
      overLimit('Multipart: more parts than the limit.');
      return true;
    }
    for (const part of parts) readPart(part, depth);
    return true;
  };

  /** The text without JavaScript's escapes, when it has any that hide something. */
  const readEscapes = (bytes: Uint8Array, start = 0, end = bytes.length): void => {
    const out = new Uint8Array(end - start);
    const written = jsDecode.apply(bytes, start, end, out, 0);
    if (written > 0) addText(out, 0, written);
  };

  /** What stands in quotes, for parsers that take more than JSON (comments, single quotes, commas at the end). */
  const readStrings = (bytes: Uint8Array): void => {
    const ranges = stringsIn(bytes, remaining().maxArguments);
    for (let at = 0; at < ranges.length; at += 2) {
      const [start, end] = [ranges[at]!, ranges[at + 1]!];
      addText(bytes, start, end);
      if (bytes.subarray(start, end).includes(backslash)) readEscapes(bytes, start, end);
    }
  };

  const readLenientJson = (bytes: Uint8Array, isFile: boolean): void => {
    if (!readJson(bytes, isFile) && !isFile) readStrings(bytes);
  };

  const readForm = (bytes: Uint8Array, isStrict: boolean): void => {
    const { argumentSeparator } = tx.settings;
    const sink = bodyArguments(tx, names);
    const facts = parseUrlencoded(bytes, 0, bytes.length, argumentSeparator, sink, tx.arena, remaining());
    if (facts.isTruncated && isStrict) overLimit('More arguments than SecArgumentsLimit allows');
  };

  const readText = (bytes: Uint8Array): void => {
    const text = latin1(bytes);
    const likeness = formLikeness(text);
    if (likeness !== 'none') readForm(bytes, likeness === 'strict');
    if (likeness === 'strict') return;
    addText(bytes);
    if (hidingEscape.test(text)) readEscapes(bytes);
    if (shapeOf(bytes) === 'json') readStrings(bytes);
  };

  const readRecord = (bytes: Uint8Array): void => {
    const ranges = textsIn(bytes);
    const most = remaining().maxArguments * 2;
    for (let at = 0; at < Math.min(most, ranges.length); at += 2) addText(bytes, ranges[at], ranges[at + 1]);
    if (ranges.length > most) {
      const rest = ranges.slice(most);
      const texts = rest.flatMap((start, at) => (at % 2 === 0 ? [latin1(bytes, start, rest[at + 1])] : []));
      addText(Buffer.from(texts.join('\n'), 'latin1'));
    }
  };

  const read = (body: Uint8Array, contentType: string, isFile: boolean, depth: number): void => {
    const bytes = asUtf8(body);
    // A mark or some zeros at its beginning don't keep an application from reading bytes.
    if (isReencoded(body, bytes) && !isFile && !isBinary(body, '')) readText(body);
    const mediaType = mediaTypeOf(contentType);
    const shape = shapeOf(bytes);
    if (mediaType.startsWith('multipart/') && readMultipart(bytes, boundaryOf(contentType), depth)) return;
    if (shape === 'json' && readJson(bytes, isFile)) return;
    const isXml = shape === 'xml' && readXml(bytes, isFile);
    if (shape === 'multipart') readMultipart(bytes, boundaryIn(bytes), depth);
    // What a file holds is for rules on files, unless it shows by itself what it is.
    if (isFile) return;
    // XML that is passed for text may end up as a part of a page.
    if (isXml && mediaType !== '' && !mediaType.startsWith('text/')) return;
    if (!isBinary(bytes, mediaType)) readText(bytes);
    else if (isRecordType(mediaType)) readRecord(bytes);
    else if (formLikeness(latin1(bytes, 0, Math.min(bytes.length, 512))) !== 'none') readForm(bytes, false);
  };

  /** A part of a form that says what it holds: as a form's value it would be read as one text. */
  const typedPart = (bytes: Uint8Array, contentType: string, isFile: boolean): void => {
    const mediaType = mediaTypeOf(contentType);
    if (isJsonType(mediaType)) readLenientJson(asUtf8(bytes), isFile);
    else if (isXmlType(mediaType)) readXml(asUtf8(bytes), isFile);
    else if (mediaType.startsWith('multipart/')) readMultipart(bytes, boundaryOf(contentType), 1);
  };

  return {
    typedPart,

    /** A body without a processor, by its Content-Type (empty: none) and by what it looks like. */
    body: (bytes: Uint8Array, contentType: string): void => read(bytes, contentType, false, 0),

    /** A compressed body for an application that takes it as it is, and finds a form, parts or text in it. */
    asSent(body: Uint8Array, contentType: string): void {
      const mediaType = mediaTypeOf(contentType);
      if (mediaType === 'application/x-www-form-urlencoded') readForm(body, true);
      // What is really compressed is binary, whatever its type says.
      else read(body, mediaType.startsWith('multipart/') ? contentType : '', false, 0);
    },

    /** What a form is besides, for applications that don't look at its Content-Type. */
    disguised(body: Uint8Array): void {
      const bytes = asUtf8(body);
      const shape = shapeOf(bytes);
      if (shape === 'json') readLenientJson(bytes, false);
      else if (shape === 'xml') readXml(bytes, false);
      else if (shape === 'multipart') readMultipart(bytes, boundaryIn(bytes), 0);
      else if (bytes !== body) readText(bytes);
    },
  };
};
