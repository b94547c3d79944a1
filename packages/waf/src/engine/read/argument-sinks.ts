import type { ByteSpan, JsonSink, MultipartPart, MultipartSink, XmlSink } from '../../body/sink.ts';
import { bytesOf } from '../../bytes/bytes.ts';
import type { KnownNames } from '../../bytes/known-names.ts';
import { type SourceName, sourceId } from '../../model/source.ts';
import type { Transaction } from '../../model/transaction.ts';

const argumentSink =
  (valueSource: SourceName, nameSource: SourceName) =>
  (tx: Transaction, names: KnownNames): JsonSink => {
    const value = sourceId(valueSource);
    const nameId = sourceId(nameSource);
    return {
      argument: (name, content) => storeArgument(tx, names, value, nameId, name, content),
      // What ModSecurity 2 calls all values of the list; rules on names that end in $ are written for it.
      list(name) {
        const known = names.nameOf(name.buf, name.start, name.end);
        tx.addEntry(nameId, known.name, known.key, name.buf, name.start, name.end);
      },
    };
  };

const storeArgument = (
  tx: Transaction,
  names: KnownNames,
  valueId: number,
  nameId: number,
  name: ByteSpan,
  value: ByteSpan,
): void => {
  const known = names.nameOf(name.buf, name.start, name.end);
  tx.argsCombinedSize += name.end - name.start + value.end - value.start;
  tx.addEntry(valueId, known.name, known.key, value.buf, value.start, value.end);
  tx.addEntry(nameId, known.name, known.key, name.buf, name.start, name.end);
};

/** Stores arguments as ARGS_GET and ARGS_GET_NAMES. */
export const queryArguments = argumentSink('queryArgument', 'queryArgumentName');

/** Stores arguments as ARGS_POST and ARGS_POST_NAMES. */
export const bodyArguments = argumentSink('bodyArgument', 'bodyArgumentName');

const ids = {
  argument: sourceId('bodyArgument'),
  argumentName: sourceId('bodyArgumentName'),
  file: sourceId('file'),
  fileName: sourceId('fileName'),
  fileSize: sourceId('fileSize'),
  fileContent: sourceId('fileContent'),
  filename: sourceId('multipartFilename'),
  name: sourceId('multipartName'),
  header: sourceId('multipartPartHeader'),
  xmlText: sourceId('xmlText'),
  xmlAttribute: sourceId('xmlAttribute'),
};

/** A file of a multipart body as FILES…, under both of its names when it has two. */
export const storeFile = (tx: Transaction, names: KnownNames, part: MultipartPart, content: ByteSpan): void => {
  const { name, key } = names.nameOf(part.name.buf, part.name.start, part.name.end);
  const size = bytesOf(String(content.end - content.start));
  storePart(tx, names, part.name);
  for (const filename of [part.filename ?? part.name, part.extendedFilename]) {
    if (filename === null) continue;
    tx.addEntry(ids.filename, name, key, filename.buf, filename.start, filename.end);
    tx.addEntry(ids.file, name, key, filename.buf, filename.start, filename.end);
  }
  tx.addEntry(ids.fileName, name, key, part.name.buf, part.name.start, part.name.end);
  tx.addEntry(ids.fileSize, name, key, size, 0, size.length);
  tx.addEntry(ids.fileContent, name, key, content.buf, content.start, content.end);
};

/** Reads what a part of a form holds by the type that the part names. */
export type ReadTypedPart = (content: Uint8Array, type: string, isFile: boolean) => void;

/** Stores fields as arguments, files as FILES…, and every header line under the name of its part. */
export const multipartEntries = (tx: Transaction, names: KnownNames, readTyped: ReadTypedPart): MultipartSink => ({
  header(part, line) {
    const { name, key } = names.nameOf(part.name.buf, part.name.start, part.name.end);
    tx.addEntry(ids.header, name, key, line.buf, line.start, line.end);
  },
  field(part, value) {
    storeArgument(tx, names, ids.argument, ids.argumentName, part.name, value);
    storePart(tx, names, part.name);
    if (part.type !== '') readTyped(value.buf.subarray(value.start, value.end), part.type, false);
  },
  file(part, content) {
    storeFile(tx, names, part, content);
    if (part.type !== '') readTyped(content.buf.subarray(content.start, content.end), part.type, true);
  },
});

const storePart = (tx: Transaction, names: KnownNames, part: ByteSpan): void => {
  const { name, key } = names.nameOf(part.buf, part.start, part.end);
  tx.addEntry(ids.name, name, key, part.buf, part.start, part.end);
};

/** Stores character data for `XML:/*`, attribute values and processing instructions for `XML://@*`. */
export const xmlEntries = (tx: Transaction): XmlSink => ({
  text: () => undefined,
  attribute: (value) => tx.addEntry(ids.xmlAttribute, '', '', value.buf, value.start, value.end),
  instruction: (content) => tx.addEntry(ids.xmlAttribute, '', '', content.buf, content.start, content.end),
  content: (text) => tx.addEntry(ids.xmlText, '', '', text.buf, text.start, text.end),
});
