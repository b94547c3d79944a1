import {
  CertificateImport,
  CertificateInUse,
  CertificateQuery,
  KeyDownload,
  ListedCertificate,
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
import type { CertificateFiles, Collect } from './collect/service.ts';
import type { ReadPkcs12Files } from './pkcs12/reader.ts';
import type { CertificateReplacement, Certificates, CertificateUpload } from './service.ts';
import { createCertificateForms, IMPORT_LIMIT, readImportForm } from './upload-form.ts';

const tags = ['certificates'];
const Params = Type.Object({ id: Type.String() });
const UPLOAD_LIMIT = 3 * 1024 * 1024;

const PEM_TYPE = 'application/x-pem-file';
const PKCS12_TYPE = 'application/x-pkcs12';

const sendPem = (reply: FastifyReply, { filename, pem }: { filename: string; pem: string }): string => {
  reply.type(PEM_TYPE).header('content-disposition', `attachment; filename="${filename}"`);
  return pem;
};

const sendPkcs12 = (reply: FastifyReply, { filename, bytes }: { filename: string; bytes: Buffer }): FastifyReply =>
  reply.type(PKCS12_TYPE).header('content-disposition', `attachment; filename="${filename}"`).send(bytes);

/** Resolves when a password is the caller's own; throws a 403 or 429 otherwise. */
export type ProvePassword = (password: string, actor: Actor) => Promise<unknown>;

export interface CertificateRoutesDeps {
  collect: Collect;
  provePassword: ProvePassword;
  readPkcs12: ReadPkcs12Files;
}

export const certificateRoutes =
  (certificates: Certificates, { collect, provePassword, readPkcs12 }: CertificateRoutesDeps) =>
  async (app: App): Promise<void> => {
    const forms = createCertificateForms(readPkcs12);

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
          request.body = await forms.readUpload(request);
        },
        schema: {
          tags,
          summary: 'Upload a certificate and its key',
          description:
            'Form fields: name; certificate_file (.crt or .pem) and key_file (.key or .pem), or instead of both pkcs12_file (.pfx or .p12) ' +
            'with pkcs12_password; 1 MiB each. The password is not kept.',
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
            'Form fields: file, once for each; at most 1,000 of 1 MiB, 20 MiB together; pkcs12_password, up to ten times: those of PKCS #12 files. Certificates ' +
            'and keys are matched by their public keys, whatever the files are called: PEM files of certbot, Caddy, acme.sh and others, ' +
            "PKCS #12 (.pfx, .p12), and Traefik's acme.json.",
          consumes: ['multipart/form-data'],
          response: { 200: CertificateImport },
        },
      },
      async (request) => collect(request.body as CertificateFiles, request.actor),
    );

    app.put(
      '/certificates/:id',
      {
        config: { policy: 'sensitive' },
        bodyLimit: UPLOAD_LIMIT,
        preHandler: async (request) => {
          request.body = await forms.readReplacement(request);
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
          description: 'PEM; with pkcs12_password a PKCS #12 that it protects (AES-256, SHA-256).',
          body: KeyDownload,
          produces: [PEM_TYPE, PKCS12_TYPE],
          response: { 200: Type.String() },
        },
      },
      async (request, reply) => {
        const { password, pkcs12_password } = request.body;
        await provePassword(password, request.actor);
        const id = parseIdentifier(request.params.id);
        if (pkcs12_password === undefined) return sendPem(reply, await certificates.downloadKey(id, request.actor));
        return sendPkcs12(reply, await certificates.downloadPkcs12(id, pkcs12_password, request.actor)) as never;
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
