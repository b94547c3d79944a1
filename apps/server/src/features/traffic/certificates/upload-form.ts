import { refuse } from '@sallyport/store/errors';
import type { FastifyRequest } from 'fastify';
import { refuseUnknown } from '../../../http/known-fields.ts';
import { readForm } from '../../../http/multipart-form.ts';
import type { CollectedFile } from './collect/read-files.ts';
import type { CertificateReplacement, CertificateUpload } from './service.ts';

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_NAME_LENGTH = 255;

const EXTENSIONS = {
  certificate_file: ['.crt', '.pem'],
  key_file: ['.key', '.pem'],
} as const;
type FileField = keyof typeof EXTENSIONS;

const FIELDS = ['name', ...Object.keys(EXTENSIONS)];

/** A name as it is sent back: of no more than a path may have, and without what a terminal would obey. */
const shownFile = (name: string): string => name.replaceAll(/\p{Cc}/gu, '\ufffd').slice(0, 1_024);

const isFileField = (name: string): name is FileField => Object.hasOwn(EXTENSIONS, name);

const checkExtension = (field: FileField, filename: string) => {
  const allowed: readonly string[] = EXTENSIONS[field];
  if (!allowed.some((extension) => filename.toLowerCase().endsWith(extension))) {
    throw refuse.invalid(`${field} must be a ${allowed.join(' or ')} file`);
  }
};

interface Parts {
  name: string | undefined;
  files: ReadonlyMap<FileField, string>;
}

const readParts = async (request: FastifyRequest): Promise<Parts> => {
  const files = new Map<FileField, string>();
  let name: string | undefined;
  const limits = { fileSize: MAX_FILE_BYTES, files: 4, fields: 10, fieldSize: 4_096, parts: 14, headerPairs: 50 };
  for await (const part of request.parts({ limits })) {
    if (part.type === 'field') {
      if (part.fieldname !== 'name') refuseUnknown('field', part.fieldname, FIELDS);
      if (typeof part.value === 'string') name = part.value.trim();
      continue;
    }
    const content = await part.toBuffer();
    if (!isFileField(part.fieldname)) return refuseUnknown('field', part.fieldname, FIELDS);
    if (part.file.truncated) throw refuse.tooLarge(`${part.fieldname} must be at most 1 MiB`);
    checkExtension(part.fieldname, part.filename);
    // Latin-1 keeps every byte; anything but ASCII is no PEM and fails to parse.
    files.set(part.fieldname, content.toString('latin1'));
  }
  return { name, files };
};

const checkedName = (name: string): string => {
  if (name === '') throw refuse.invalid('name is required');
  if (name.length > MAX_NAME_LENGTH) throw refuse.invalid(`name must be at most ${MAX_NAME_LENGTH} characters long`);
  if (name.includes('\0')) throw refuse.invalid('name must not contain NUL characters');
  return name;
};

const bothOf = (files: Parts['files']): Omit<CertificateUpload, 'name'> => {
  const certificatePem = files.get('certificate_file');
  const keyPem = files.get('key_file');
  if (!certificatePem) throw refuse.invalid('certificate_file is required');
  if (!keyPem) throw refuse.invalid('key_file is required');
  return { certificatePem, keyPem };
};

/** Reads the multipart form of an upload into memory, within bounds. Throws a 400 or 413 that names the field. */
export const readUploadForm = async (request: FastifyRequest): Promise<CertificateUpload> => {
  const { name = '', files } = await readForm(request, readParts);
  return { name: checkedName(name), ...bothOf(files) };
};

/** Reads the form that replaces a certificate: the same, but for the name alone, or without a name. Throws as `readUploadForm`. */
export const readReplacementForm = async (request: FastifyRequest): Promise<CertificateReplacement> => {
  const { name, files } = await readForm(request, readParts);
  if (name === undefined && files.size === 0)
    throw refuse.invalid('certificate_file and key_file are required, or name');
  return {
    name: name === undefined ? undefined : checkedName(name),
    files: files.size === 0 ? undefined : bothOf(files),
  };
};

const MAX_IMPORT_FILES = 1_000;
/** Of an import, all files together. */
export const IMPORT_LIMIT = 20 * 1024 * 1024;

const readImportParts = async (request: FastifyRequest): Promise<CollectedFile[]> => {
  const files: CollectedFile[] = [];
  const limits = {
    ...{ fileSize: MAX_FILE_BYTES, files: MAX_IMPORT_FILES, parts: MAX_IMPORT_FILES + 1 },
    ...{ fields: 1, fieldSize: 4_096, headerPairs: 50 },
  };
  // Archives have a privkey.pem in every folder.
  for await (const part of request.parts({ limits, preservePath: true })) {
    if (part.type === 'field' || part.fieldname !== 'file') return refuseUnknown('field', part.fieldname, ['file']);
    const content = await part.toBuffer();
    if (part.file.truncated) throw refuse.tooLarge(`${shownFile(part.filename)} must be at most 1 MiB`);
    files.push({ file: shownFile(part.filename), text: content.toString('latin1') });
  }
  return files;
};

/** Reads the form of an import: a `file` for each. Throws a 400, or a 413 for too many or too large ones. */
export const readImportForm = async (request: FastifyRequest): Promise<CollectedFile[]> => {
  const files = await readForm(request, readImportParts);
  if (files.length === 0) throw refuse.invalid('file is required');
  return files;
};
