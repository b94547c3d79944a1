import { createHash } from 'node:crypto';
import { type Draft, discard } from '@sallyport/backup/shelf/files';
import { Refusal, refuse } from '@sallyport/store/errors';
import type { FastifyRequest } from 'fastify';
import { refuseUnknown } from '../../../http/known-fields.ts';

/** An uploaded file, on disk, and what came with it. */
export interface ReceivedFile {
  draft: Draft;
  /** Of its bytes, hex. */
  sha256: string;
  passphrase: string | undefined;
}

/** A hundred times what 100,000 hosts take. */
const MOST_FILE_BYTES = 1024 ** 3;
const MOST_PASSPHRASE_BYTES = 4_096;
const FIELDS = ['file', 'passphrase'];

const receive = async (source: AsyncIterable<Buffer>, draft: Draft): Promise<string> => {
  const digest = createHash('sha256');
  for await (const piece of source) {
    digest.update(piece);
    // Not `write`, which on a disk that gets full writes a part, and says so in what it returns.
    await draft.file.appendFile(piece);
  }
  return digest.digest('hex');
};

const readParts = async (request: FastifyRequest, draft: Draft): Promise<Omit<ReceivedFile, 'draft'>> => {
  const limits = {
    fileSize: MOST_FILE_BYTES,
    files: 1,
    fields: 2,
    fieldSize: MOST_PASSPHRASE_BYTES,
    parts: 4,
    headerPairs: 50,
  };
  let sha256: string | undefined;
  let passphrase: string | undefined;
  for await (const part of request.parts({ limits })) {
    if (part.type === 'field') {
      if (part.fieldname === 'file') throw refuse.invalid('file must be a file');
      if (part.fieldname !== 'passphrase') refuseUnknown('field', part.fieldname, FIELDS);
      if (part.valueTruncated) {
        throw refuse.invalid(`passphrase must be at most ${MOST_PASSPHRASE_BYTES} bytes long`);
      }
      if (typeof part.value === 'string' && part.value !== '') passphrase = part.value;
      continue;
    }
    if (part.fieldname === 'passphrase') throw refuse.invalid('passphrase must be a text');
    if (part.fieldname !== 'file') refuseUnknown('field', part.fieldname, FIELDS);
    sha256 = await receive(part.file, draft);
    if (part.file.truncated) throw refuse.tooLarge(`file must be at most ${MOST_FILE_BYTES} bytes`);
  }
  if (sha256 === undefined) throw refuse.invalid('file is required');
  return { sha256, passphrase };
};

/** What a parser of forms throws for what a caller sent; a disk that is full is no fault of theirs. */
const isOfForm = ({ code = '' }: NodeJS.ErrnoException): boolean => code === '' || code.startsWith('FST_');

/** Writes the uploaded file to disk as it comes. Throws a 400 or 413 that names the field; then nothing is left. */
export const receiveUpload = async (
  request: FastifyRequest,
  openDraft: () => Promise<Draft>,
): Promise<ReceivedFile> => {
  if (!request.isMultipart()) throw refuse.invalid('Content-Type must be multipart/form-data');
  const draft = await openDraft();
  try {
    return { draft, ...(await readParts(request, draft)) };
  } catch (error) {
    await discard(draft);
    const cause = error as NodeJS.ErrnoException & { statusCode?: number };
    if (cause instanceof Refusal || !isOfForm(cause)) throw cause;
    if (cause.statusCode === 413) throw refuse.tooLarge('The form has more parts than allowed', { cause });
    throw refuse.invalid('body must be a valid multipart form', { cause });
  }
};
