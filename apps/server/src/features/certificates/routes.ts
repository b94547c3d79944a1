import { Certificate, UploadedCertificate } from '@sallyport/contract';
import { Type } from 'typebox';
import type { App } from '../../http/app-type.ts';
import { parseRowId } from '../../http/row-id.ts';
import type { Certificates } from './service.ts';
import { readUploadForm } from './upload-form.ts';

const tags = ['certificates'];
const UPLOAD_LIMIT = 3 * 1024 * 1024;

export const certificateRoutes =
  (certificates: Certificates) =>
  async (app: App): Promise<void> => {
    app.get(
      '/certificates',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'List certificates', response: { 200: Type.Array(Certificate) } },
      },
      async () => certificates.list(),
    );

    app.post(
      '/certificates/upload',
      {
        config: { policy: 'sensitive' },
        bodyLimit: UPLOAD_LIMIT,
        schema: {
          tags,
          summary: 'Upload a certificate and its key',
          description: 'Form fields: name, certificate_file (.crt or .pem), key_file (.key or .pem); 1 MiB each.',
          consumes: ['multipart/form-data'],
          response: { 201: UploadedCertificate },
        },
      },
      async (request, reply) =>
        reply.code(201).send(await certificates.upload(await readUploadForm(request), request.actor)),
    );

    app.delete(
      '/certificates/:id',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Delete a certificate that no proxy host uses; a backup is made first',
          params: Type.Object({ id: Type.String() }),
          response: { 200: Type.Object({ message: Type.String() }) },
        },
      },
      async (request) => {
        await certificates.remove(parseRowId(request.params.id), request.actor);
        return { message: 'certificate deleted' };
      },
    );
  };
