import { Container, ListQuery } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { sendPage } from '../../../http/paging.ts';
import type { ListContainers } from './list.ts';

export const containerRoutes =
  (list: ListContainers) =>
  async (app: App): Promise<void> => {
    app.get(
      '/containers',
      {
        // The socket tells this to root and Docker's group alone: neither a user of the API, nor of the machine, learns it here without being trusted.
        config: { policy: 'administrator' },
        schema: {
          tags: ['containers'],
          summary: 'List the containers that run on this machine',
          querystring: ListQuery,
          response: { 200: Type.Array(Container) },
        },
      },
      async (request, reply) => sendPage(request, reply, await list(request.query)),
    );
  };
