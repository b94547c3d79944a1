import { InternalAuthority } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { tagged } from '../../../http/versions.ts';
import type { InternalCa } from './service.ts';

const tags = ['certificates'];
/** Browsers and phones offer to trust what comes as this. */
const ROOT_TYPE = 'application/x-x509-ca-cert';

export const internalCaRoutes =
  (internalCa: InternalCa) =>
  async (app: App): Promise<void> => {
    app.get(
      '/certificates/internal-ca',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'Tell the root of the internal authority; 404 until something was ordered of it',
          response: { 200: InternalAuthority },
        },
      },
      async (_request, reply) => tagged(reply, await internalCa.describe()),
    );

    app.get(
      '/certificates/internal-ca/root.pem',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'Download the root of the internal authority, for devices that are to trust it',
          produces: [ROOT_TYPE],
          response: { 200: Type.String() },
        },
      },
      async (_request, reply) => {
        const pem = await internalCa.rootPem();
        reply.type(ROOT_TYPE).header('content-disposition', 'attachment; filename="sallyport-root.pem"');
        return pem;
      },
    );
  };
