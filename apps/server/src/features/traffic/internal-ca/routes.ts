import { InternalAuthority, MeantRoot } from '@sallyport/contract';
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

    const download = (path: string, summary: string, filename: string, read: () => Promise<string>) =>
      app.get(
        path,
        {
          config: { policy: 'member' },
          schema: { tags, summary, produces: [ROOT_TYPE], response: { 200: Type.String() } },
        },
        async (_request, reply) => {
          const pem = await read();
          reply.type(ROOT_TYPE).header('content-disposition', `attachment; filename="${filename}"`);
          return pem;
        },
      );
    download(
      '/certificates/internal-ca/root.pem',
      'Download the root of the internal authority, for devices that are to trust it',
      'sallyport-root.pem',
      internalCa.rootPem,
    );
    download(
      '/certificates/internal-ca/next-root.pem',
      'Download the root that is to follow, for devices that are to trust it before it takes over',
      'sallyport-next-root.pem',
      internalCa.nextRootPem,
    );

    app.post(
      '/certificates/internal-ca/next',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Make the root that is to follow; it signs nothing before it takes over',
          response: { 200: InternalAuthority },
        },
      },
      async (request) => internalCa.prepare(request.actor),
    );

    app.post(
      '/certificates/internal-ca/drop-next',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Give up the next root',
          body: MeantRoot,
          response: { 200: Type.Object({ message: Type.String() }) },
        },
      },
      async (request) => {
        await internalCa.drop(request.body.sha256, request.actor);
        return { message: 'next root deleted' };
      },
    );

    app.post(
      '/certificates/internal-ca/take-over',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Let the next root take over: all certificates are signed anew by it',
          description:
            'Devices that do not trust it yet refuse them from then on. A backup is made first; the former root is gone then.',
          body: MeantRoot,
          response: { 200: InternalAuthority },
        },
      },
      async (request) => internalCa.takeOver(request.body.sha256, request.actor),
    );
  };
