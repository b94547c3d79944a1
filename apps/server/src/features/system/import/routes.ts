import {
  IMPORT_FILENAME,
  IMPORT_WITHOUT_FILES,
  ImportCancel,
  ImportCommit,
  ImportOfFiles,
  ImportOutcome,
  ImportPreview,
  ImportSession,
  ImportSessionReport,
  ImportStatus,
  ImportVerification,
  ImportVerify,
  NewImport,
  NewImportOfFiles,
} from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import { refuse } from '@sallyport/store/errors';
import type { FastifyRequest } from 'fastify';
import type { App } from '../../../http/app-type.ts';
import { created, ifMatch, tagged } from '../../../http/versions.ts';
import type { Imports } from './service.ts';
import type { VerifyImport } from './verify/service.ts';

const tags = ['import'];
/** Uploads may hold another proxy's secrets: nothing of them is for standard users. */
const config = { policy: 'sensitive' } as const;
/** Spec and contract.md: configurations may be larger than any other body. */
const bodyLimit = 10 * 1024 * 1024;

/** Throws the 400 of the spec. */
const requireFiles = async ({ body }: FastifyRequest): Promise<void> => {
  const { files } = (body ?? {}) as { files?: unknown };
  if (files === undefined || files === null || (Array.isArray(files) && files.length === 0)) {
    throw refuse.invalid(IMPORT_WITHOUT_FILES);
  }
};

export const importRoutes =
  (imports: Imports, verify: VerifyImport) =>
  async (app: App): Promise<void> => {
    app.get(
      '/import/status',
      { config, schema: { tags, summary: 'Tell whether an import is under way', response: { 200: ImportStatus } } },
      async () => imports.status(),
    );

    app.get(
      '/import/preview',
      {
        config,
        schema: {
          tags,
          summary: 'Read what the active import would come to; waits until the upload is read',
          response: { 200: ImportPreview },
        },
      },
      async () => imports.preview(),
    );

    app.get(
      '/import/sessions/:uuid',
      {
        config,
        schema: {
          tags,
          summary: 'Read what became of an import: why it failed, what was imported',
          params: Type.Object({ uuid: Type.String() }),
          response: { 200: ImportSessionReport },
        },
      },
      async (request, reply) => tagged(reply, await imports.get(request.params.uuid)),
    );

    app.post(
      '/import/upload',
      {
        config,
        bodyLimit,
        schema: {
          tags,
          summary: 'Begin an import with one file; it is read after the answer',
          description:
            'Text, or with encoding base64 a SQLite database: what it is is told from the content. There is one active session: who uploads again begins anew, and while somebody else is at it the answer is 409.',
          body: NewImport,
          response: { 201: Type.Object({ session: ImportSession }) },
        },
      },
      async (request, reply) => {
        const session = await imports.upload({ filename: IMPORT_FILENAME, ...request.body }, request.actor);
        return created(reply, `import/sessions/${session.uuid}`, { session });
      },
    );

    app.post(
      '/import/upload-multi',
      {
        config,
        bodyLimit,
        preValidation: requireFiles,
        schema: {
          tags,
          summary: 'Begin an import with files that import each other; answers with the preview',
          body: NewImportOfFiles,
          response: { 200: ImportOfFiles },
        },
      },
      async (request) => imports.uploadMany(request.body, request.actor),
    );

    app.post(
      '/import/commit',
      {
        config: { ...config, isConfirmable: true },
        bodyLimit,
        schema: {
          tags,
          summary: 'Import the hosts of the active session, all in one change; answers when they are live',
          description:
            'What is there is backed up before. An existing host that is overwritten keeps all that the file says nothing of, its protection above all.',
          body: ImportCommit,
          response: { 200: ImportOutcome },
        },
      },
      async (request) => imports.commit(request.body, request.actor),
    );

    app.post(
      '/import/verify',
      {
        config,
        schema: {
          tags,
          summary: 'Ask the old and the new proxy for each imported name, and list where they differ',
          description:
            'Sends HEAD and GET / only, over HTTP and HTTPS, and follows no redirect. Takes a minute at most; names that there was no time for are in not_asked.',
          body: ImportVerify,
          response: { 200: ImportVerification },
        },
      },
      async (request) => verify(request.body, request.actor),
    );

    app.delete(
      '/import/cancel',
      {
        config,
        schema: {
          tags,
          summary: 'End the active import and forget what was uploaded',
          querystring: ImportCancel,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await imports.cancel(request.query.session_uuid, request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );
  };
