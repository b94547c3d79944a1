import type { Readable } from 'node:stream';
import { discard } from '@sallyport/backup/shelf/files';
import { Backup, BackupCopyTest, BackupPassphrase, BackupReport, ListQuery, NewBackup } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import { refuseApiToken } from '@sallyport/store/accounts/session-only';
import type { FastifyRequest } from 'fastify';
import type { App } from '../../../http/app-type.ts';
import { sendPage } from '../../../http/paging.ts';
import { created, ifMatch, tagged } from '../../../http/versions.ts';
import type { Copier } from './copies/copier.ts';
import type { Backups } from './service.ts';
import { type ReceivedFile, receiveUpload } from './upload-form.ts';

const tags = ['backups'];
const Params = Type.Object({ name: Type.String() });
const config = { policy: 'administrator' } as const;

export const backupRoutes =
  (backups: Backups, copier: Pick<Copier, 'test'>) =>
  async (app: App): Promise<void> => {
    app.get(
      '/backups',
      {
        config,
        schema: {
          tags,
          summary: 'List backups, newest first',
          querystring: ListQuery,
          response: { 200: Type.Array(Backup) },
        },
      },
      async (request, reply) => sendPage(request, reply, await backups.list(request.query)),
    );

    app.get(
      '/backups/:name',
      {
        config,
        schema: { tags, summary: 'Read what is known of a backup', params: Params, response: { 200: Backup } },
      },
      async (request, reply) => tagged(reply, await backups.get(request.params.name)),
    );

    app.post(
      '/backups',
      {
        config,
        schema: {
          tags,
          summary: 'Make a backup of everything that is configured',
          body: NewBackup,
          response: { 201: Backup },
        },
      },
      async (request, reply) => {
        const backup = await backups.create(request.body.passphrase, request.actor);
        return created(reply, `backups/${backup.name}`, backup);
      },
    );

    /** Of uploads that are under way, until they are answered. */
    const received = new WeakMap<FastifyRequest, ReceivedFile>();
    app.post(
      '/backups/upload',
      {
        config,
        // Read before the handler, so that a repeated request is known by what it brings.
        preHandler: async (request) => {
          const file = await receiveUpload(request, backups.draft);
          received.set(request, file);
          request.body = { sha256: file.sha256, passphrase: file.passphrase ?? null };
        },
        onResponse: async (request) => {
          const file = received.get(request);
          if (file) await discard(file.draft);
        },
        schema: {
          tags,
          summary: 'Add a backup that was downloaded elsewhere; it is verified before it is listed',
          description:
            'Form fields: file (at most 1 GiB), passphrase (of an encrypted one; default: backup.passphrase; what neither opens is not verified).',
          consumes: ['multipart/form-data'],
          response: { 201: Backup },
        },
      },
      async (request, reply) => {
        const backup = await backups.takeUpload(received.get(request) as ReceivedFile, request.actor);
        return created(reply, `backups/${backup.name}`, backup);
      },
    );

    app.get(
      '/backups/:name/download',
      {
        config,
        schema: {
          tags,
          summary: 'Download a backup; one that is not encrypted takes a session, no API token',
          params: Params,
          produces: ['application/octet-stream'],
          response: { 200: Type.Unsafe<Readable>({ type: 'string' }) },
        },
      },
      async (request, reply) => {
        const { backup, file } = await backups.download(request.params.name, request.actor);
        return reply
          .type('application/octet-stream')
          .header('content-length', backup.size)
          .header('content-disposition', `attachment; filename="${backup.name}"`)
          .send(file.createReadStream());
      },
    );

    app.post(
      '/backups/:name/verify',
      {
        config,
        schema: {
          tags,
          summary: 'Read all of a backup and tell what is wrong with it',
          params: Params,
          body: BackupPassphrase,
          response: { 200: BackupReport },
        },
      },
      async (request) => backups.verify(request.params.name, request.body.passphrase),
    );

    app.post(
      '/backups/copies/test',
      {
        config,
        schema: {
          tags,
          summary: 'Write, read and remove a small file where backups are copied to; takes a session, no API token',
          response: { 200: BackupCopyTest },
        },
      },
      async (request) => {
        refuseApiToken(request.actor);
        return copier.test();
      },
    );

    app.delete(
      '/backups/:name',
      { config, schema: { tags, summary: 'Delete a backup', params: Params, response: { 204: Type.Null() } } },
      async (request, reply) => {
        await backups.remove(request.params.name, request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );
  };
