import { IS_SPACE } from '../bytes/ascii.ts';

/** What a body that no processor takes looks like by its first bytes. */
export type BodyShape = 'json' | 'xml' | 'multipart' | 'text';

/** Media types that are text whatever their bytes. */
const textType = /^text\/|[/+.-](?:yaml|graphql|javascript|csv|sql|toml|ndjson|jsonl|json5|json-seq)\b/;
/** Media types that carry texts between bytes that are none. */
const recordType = /protobuf|grpc|msgpack|cbor|avro|thrift|amf\b|bson|flatbuffers|serialized-object|msbin|fastinfoset/;
/** A form as encoders write it: nothing in it but what they leave as it is. */
const strictForm = /^[\w.[\]%-]{1,256}=[\w.[\]%+&=*~!'()-]*$/;
const formStart = /^[\w.[\]%+-]{1,256}=/;

/** The media type of a Content-Type, in lower case and without parameters. */
export const mediaTypeOf = (contentType: string): string => contentType.split(/[;,]/, 1)[0]!.trim().toLowerCase();

const [OPEN_MAP, OPEN_LIST, QUOTE, LESS, DASH, SEPARATOR] = [0x7b, 0x5b, 0x22, 0x3c, 0x2d, 0x1e] as const;

/** How a body begins. */
export const shapeOf = (body: Uint8Array): BodyShape => {
  let at = 0;
  while (at < body.length && (IS_SPACE[body[at]!] === 1 || body[at] === SEPARATOR)) at++;
  const first = body[at];
  if (first === OPEN_MAP || first === OPEN_LIST || first === QUOTE) return 'json';
  if (first === LESS) return 'xml';
  return first === DASH && body[at + 1] === DASH ? 'multipart' : 'text';
};

/** Whether a body is a file of no text: more than one byte in sixteen is a control. Never for a type that is text. */
export const isBinary = (body: Uint8Array, mediaType: string): boolean => {
  if (textType.test(mediaType)) return false;
  let controls = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!;
    if ((byte < 0x20 && IS_SPACE[byte] === 0) || byte === 0x7f) controls++;
  }
  return controls * 16 > body.length;
};

export const isJsonType = (mediaType: string): boolean => /[/+.-]json/.test(mediaType);
export const isXmlType = (mediaType: string): boolean => /[/+]xml/.test(mediaType);

/** Whether bodies of this type are records with texts in them (protobuf, MessagePack and the like), and no files. */
export const isRecordType = (mediaType: string): boolean => recordType.test(mediaType);

/** How much of a form a text is: `strict` when it can be nothing else, `start` when it begins like one. */
export const formLikeness = (text: string): 'strict' | 'start' | 'none' => {
  if (!formStart.test(text)) return 'none';
  return strictForm.test(text) ? 'strict' : 'start';
};

/** Shortest stretch of printable ASCII that is taken for a text of a record. */
const shortestText = 8;

/** Ranges of the texts in a record, as [start, end) one behind another. */
export const textsIn = (body: Uint8Array): number[] => {
  const ranges: number[] = [];
  let start = 0;
  for (let at = 0; at <= body.length; at++) {
    const byte = at === body.length ? 0 : body[at]!;
    if ((byte >= 0x20 && byte < 0x7f) || byte === 0x09 || byte === 0x0a || byte === 0x0d) continue;
    if (at - start >= shortestText) ranges.push(start, at);
    start = at + 1;
  }
  return ranges;
};

const [APOSTROPHE, BACKSLASH] = [0x27, 0x5c] as const;

/** Ranges of what stands in double or single quotes, like `textsIn`; at most `most` of them. One without an end reaches to the end. */
export const stringsIn = (body: Uint8Array, most: number): number[] => {
  const ranges: number[] = [];
  for (let at = 0; at < body.length && ranges.length < most * 2; at++) {
    const quote = body[at];
    if (quote !== QUOTE && quote !== APOSTROPHE) continue;
    const start = ++at;
    while (at < body.length && body[at] !== quote) at += body[at] === BACKSLASH ? 2 : 1;
    ranges.push(start, Math.min(at, body.length));
  }
  return ranges;
};
