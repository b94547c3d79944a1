import {
  CertificateImport,
  CertificateInUse,
  CertificateQuery,
  ListedCertificate,
  PasswordProof,
  ReplacedCertificate,
  UploadedCertificate,
} from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { Actor } from '@sallyport/store/actor';
import type { FastifyReply } from 'fastify';
import type { App } from '../../../http/app-type.ts';
import { parseIdentifier } from '../../../http/identifier.ts';
import { sendPage } from '../../../http/paging.ts';
import { ifMatch, locate, tagged } from '../../../http/versions.ts';
import type { CollectedFile } from './collect/read-files.ts';
import type { Collect } from './collect/service.ts';
import type { CertificateReplacement, Certificates, CertificateUpload } from './service.ts';
import { IMPORT_LIMIT, readImportForm, readReplacementForm, readUploadForm } from './upload-form.ts';

const tags = ['certificates'];
const Params = Type.Object({ id: Type.String() });
const UPLOAD_LIMIT = 3 * 1024 * 1024;

const PEM_TYPE = 'application/x-pem-file';

const sendPem = (reply: FastifyReply, { filename, pem }: { filename: string; pem: string }): string => {
  reply.type(PEM_TYPE).header('content-disposition', `attachment; filename="${filename}"`);
  return pem;
};

/** Resolves when a password is the caller's own; throws a 403 or 429 otherwise. */
export type ProvePassword = (password: string, actor: Actor) => Promise<unknown>;

export const certificateRoutes =
  (certificates: Certificates, { collect, provePassword }: { collect: Collect; provePassword: ProvePassword }) =>
  async (app: App): Promise<void> => {
    app.get(
      '/certificates',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'List certificates',
          querystring: CertificateQuery,
          response: { 200: Type.Array(ListedCertificate) },
        },
      },
      async (request, reply) => sendPage(request, reply, await certificates.list(request.query)),
    );

    app.get(
      '/certificates/:id',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'Read a certificate and the proxy hosts that are served with it',
          params: Params,
          response: { 200: CertificateInUse },
        },
      },
      async (request, reply) => tagged(reply, await certificates.get(parseIdentifier(request.params.id))),
    );

    app.post(
      '/certificates/upload',
      {
        config: { policy: 'sensitive' },
        bodyLimit: UPLOAD_LIMIT,
        // Read before the handler, so that the whole request is known by then.
        preHandler: async (request) => {
          request.body = await readUploadForm(request);
        },
        schema: {
          tags,
          summary: 'Upload a certificate and its key',
          description: 'Form fields: name, certificate_file (.crt or .pem), key_file (.key or .pem); 1 MiB each.',
          consumes: ['multipart/form-data'],
          response: { 201: UploadedCertificate },
        },
      },
      async (request, reply) => {
        const { warning, ...certificate } = await certificates.upload(request.body as CertificateUpload, request.actor);
        locate(reply, `certificates/${certificate.id}`, certificate);
        return { ...certificate, ...(warning === undefined ? {} : { warning }) };
      },
    );

    app.post(
      '/certificates/import',
      {
        config: { policy: 'sensitive' },
        bodyLimit: IMPORT_LIMIT,
        preHandler: async (request) => {
          request.body = await readImportForm(request);
        },
        schema: {
          tags,
          summary:
            'Take certificates and their keys out of many files; what is good is taken, and each file is told of',
          description:
            'Form fields: file, once for each; at most 1,000 of 1 MiB, 20 MiB together. Certificates and keys are matched by their public ' +
            "keys, whatever the files are called: PEM files of certbot, Caddy, acme.sh and others, and Traefik's acme.json.",
          consumes: ['multipart/form-data'],
          response: { 200: CertificateImport },
        },
      },
      async (request) => collect(request.body as CollectedFile[], request.actor),
    );

    app.put(
      '/certificates/:id',
      {
        config: { policy: 'sensitive' },
        bodyLimit: UPLOAD_LIMIT,
        preHandler: async (request) => {
          request.body = await readReplacementForm(request);
        },
        schema: {
          tags,
          summary: 'Put another certificate in the place of one that hosts go on pointing at, or give it another name',
          description:
            'Form fields as of an upload; name alone renames it. One that was ordered is a custom one from then on. When the proxy ' +
            'does not take it, the former one stays.',
          consumes: ['multipart/form-data'],
          params: Params,
          response: { 200: ReplacedCertificate },
        },
      },
      async (request, reply) => {
        const change = request.body as CertificateReplacement;
        const id = parseIdentifier(request.params.id);
        return tagged(reply, await certificates.replace(id, change, request.actor, ifMatch(request)));
      },
    );

    app.get(
      '/certificates/:id/download',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'Download the chain of a certificate, without its key',
          params: Params,
          produces: [PEM_TYPE],
          response: { 200: Type.String() },
        },
      },
      async (request, reply) => sendPem(reply, await certificates.download(parseIdentifier(request.params.id))),
    );

    app.post(
      '/certificates/:id/download',
      {
        config: { policy: 'granting' },
        schema: {
          tags,
          summary: 'Download a certificate with its key; takes the password again, and a session, no API token',
          params: Params,
          body: PasswordProof,
          produces: [PEM_TYPE],
          response: { 200: Type.String() },
        },
      },
      async (request, reply) => {
        await provePassword(request.body.password, request.actor);
        return sendPem(reply, await certificates.downloadKey(parseIdentifier(request.params.id), request.actor));
      },
    );

    app.delete(
      '/certificates/:id',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Delete a certificate that no proxy host uses; a backup is made first',
          params: Params,
          response: { 200: Type.Object({ message: Type.String() }) },
        },
      },
      async (request) => {
        await certificates.remove(parseIdentifier(request.params.id), request.actor, ifMatch(request));
        return { message: 'certificate deleted' };
      },
    );
  };
