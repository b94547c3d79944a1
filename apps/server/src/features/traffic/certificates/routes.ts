import { Certificate, CertificateInUse, ListQuery, UploadedCertificate } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { parseIdentifier } from '../../../http/identifier.ts';
import { sendPage } from '../../../http/paging.ts';
import { ifMatch, locate, tagged } from '../../../http/versions.ts';
import type { Certificates, CertificateUpload } from './service.ts';
import { readUploadForm } from './upload-form.ts';

const tags = ['certificates'];
const Params = Type.Object({ id: Type.String() });
const UPLOAD_LIMIT = 3 * 1024 * 1024;

export const certificateRoutes =
  (certificates: Certificates) =>
  async (app: App): Promise<void> => {
    app.get(
      '/certificates',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'List certificates',
          querystring: ListQuery,
          response: { 200: Type.Array(Certificate) },
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
