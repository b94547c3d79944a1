import type { MultipartValue } from '@fastify/multipart';
import type { Actor } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import type { FastifyRequest } from 'fastify';
import { refuseUnknown } from '../../../http/known-fields.ts';
import { readForm } from '../../../http/multipart-form.ts';
import type { CollectedFile } from './collect/read-files.ts';
import type { CertificateFiles } from './collect/service.ts';
import { parseCertificatePair } from './pem.ts';
import { pairOfPkcs12 } from './pkcs12/pair.ts';
import type { ReadPkcs12Files } from './pkcs12/reader.ts';
import type { CertificateReplacement, CertificateUpload, GivenPair } from './service.ts';

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_NAME_LENGTH = 255;
const MAX_FIELD_BYTES = 4_096;

const EXTENSIONS = {
  certificate_file: ['.crt', '.pem'],
  key_file: ['.key', '.pem'],
  pkcs12_file: ['.pfx', '.p12'],
} as const;
type FileField = keyof typeof EXTENSIONS;

const PASSWORD = 'pkcs12_password';
const FIELDS = ['name', PASSWORD, ...Object.keys(EXTENSIONS)];

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
  password: string | undefined;
  files: ReadonlyMap<FileField, Buffer>;
}

/** The text of a field that is no file. Throws a 400 for one that the form has no room for. */
const textOf = ({ fieldname, value, valueTruncated }: MultipartValue): string => {
  if (valueTruncated) throw refuse.invalid(`${fieldname} must be at most ${MAX_FIELD_BYTES} bytes long`);
  return typeof value === 'string' ? value : '';
};

const readParts = async (request: FastifyRequest): Promise<Parts> => {
  const files = new Map<FileField, Buffer>();
  const texts = new Map<string, string>();
  const limits = {
    ...{ fileSize: MAX_FILE_BYTES, files: 4, fields: 10, fieldSize: MAX_FIELD_BYTES },
    ...{ parts: 14, headerPairs: 50 },
  };
  for await (const part of request.parts({ limits })) {
    if (part.type === 'field') {
      if (part.fieldname !== 'name' && part.fieldname !== PASSWORD) refuseUnknown('field', part.fieldname, FIELDS);
      texts.set(part.fieldname, textOf(part));
      continue;
    }
    const content = await part.toBuffer();
    if (!isFileField(part.fieldname)) return refuseUnknown('field', part.fieldname, FIELDS);
    if (part.file.truncated) throw refuse.tooLarge(`${part.fieldname} must be at most 1 MiB`);
    checkExtension(part.fieldname, part.filename);
    files.set(part.fieldname, content);
  }
  return { name: texts.get('name')?.trim(), password: texts.get(PASSWORD), files };
};

const checkedName = (name: string): string => {
  if (name === '') throw refuse.invalid('name is required');
  if (name.length > MAX_NAME_LENGTH) throw refuse.invalid(`name must be at most ${MAX_NAME_LENGTH} characters long`);
  if (name.includes('\0')) throw refuse.invalid('name must not contain NUL characters');
  return name;
};

/** Latin-1 keeps every byte; anything but ASCII is no PEM and fails to parse. */
const pemOf = (file: Buffer): string => file.toString('latin1');

const pairOf = async ({ files, password }: Parts, actor: Actor, readPkcs12: ReadPkcs12Files): Promise<GivenPair> => {
  const [certificate, key, pkcs12] = [files.get('certificate_file'), files.get('key_file'), files.get('pkcs12_file')];
  if (pkcs12) {
    if (certificate ?? key)
      throw refuse.invalid('pkcs12_file has both: certificate_file and key_file must be left out');
    const [outcome] = await readPkcs12([pkcs12], [password ?? ''], actor);
    return { pair: await pairOfPkcs12(outcome, password ?? ''), field: 'pkcs12_file' };
  }
  if (password !== undefined) throw refuse.invalid('pkcs12_password is of a pkcs12_file, which is missing');
  if (!certificate?.length) throw refuse.invalid('certificate_file is required, or pkcs12_file');
  if (!key?.length) throw refuse.invalid('key_file is required');
  return { pair: parseCertificatePair(pemOf(certificate), pemOf(key)), field: 'certificate_file' };
};

/** Makes what reads the forms of single certificates into memory, within bounds; they throw a 400 or 413 that names the field. */
export const createCertificateForms = (readPkcs12: ReadPkcs12Files) => ({
  /** An upload: a name, and a certificate with its key. The password of a PKCS #12 goes no further. */
  async readUpload(request: FastifyRequest): Promise<CertificateUpload> {
    const parts = await readForm(request, readParts);
    const name = checkedName(parts.name ?? '');
    return { name, ...(await pairOf(parts, request.actor, readPkcs12)) };
  },

  /** A replacement: the same, but for the name alone, or without a name. */
  async readReplacement(request: FastifyRequest): Promise<CertificateReplacement> {
    const parts = await readForm(request, readParts);
    const isNameAlone = parts.files.size === 0 && parts.password === undefined;
    if (parts.name === undefined && isNameAlone) {
      throw refuse.invalid('certificate_file and key_file are required, or pkcs12_file, or name');
    }
    return {
      name: parts.name === undefined ? undefined : checkedName(parts.name),
      given: isNameAlone ? undefined : await pairOf(parts, request.actor, readPkcs12),
    };
  },
});

const MAX_IMPORT_FILES = 1_000;
const MAX_PASSWORDS = 10;
/** Of an import, all files together. */
export const IMPORT_LIMIT = 20 * 1024 * 1024;

const readImportParts = async (request: FastifyRequest): Promise<CertificateFiles> => {
  const files: CollectedFile[] = [];
  const passwords: string[] = [];
  const limits = {
    ...{ fileSize: MAX_FILE_BYTES, files: MAX_IMPORT_FILES, parts: MAX_IMPORT_FILES + MAX_PASSWORDS },
    ...{ fields: MAX_PASSWORDS, fieldSize: MAX_FIELD_BYTES, headerPairs: 50 },
  };
  // Archives have a privkey.pem in every folder.
  for await (const part of request.parts({ limits, preservePath: true })) {
    if (part.type === 'field' && part.fieldname === PASSWORD) passwords.push(textOf(part));
    else if (part.type === 'field' || part.fieldname !== 'file') {
      return refuseUnknown('field', part.fieldname, ['file', PASSWORD]);
    } else {
      const content = await part.toBuffer();
      if (part.file.truncated) throw refuse.tooLarge(`${shownFile(part.filename)} must be at most 1 MiB`);
      files.push({ file: shownFile(part.filename), text: content.toString('latin1') });
    }
  }
  return { files, passwords };
};

/** Reads the form of an import: a `file` for each, and passwords. Throws a 400, or a 413 for too many or too large ones. */
export const readImportForm = async (request: FastifyRequest): Promise<CertificateFiles> => {
  const given = await readForm(request, readImportParts);
  if (given.files.length === 0) throw refuse.invalid('file is required');
  return given;
};
