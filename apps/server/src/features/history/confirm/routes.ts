import { Confirmation, ListQuery } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import { refuse } from '@sallyport/store/errors';
import type { App } from '../../../http/app-type.ts';
import { sendPage } from '../../../http/paging.ts';
import { isUuid } from '../../../net/uuid.ts';
import { viewerOf } from '../routes.ts';
import type { Confirmations } from './service.ts';

const tags = ['history'];

export const confirmRoutes =
  (confirmations: Confirmations) =>
  async (app: App): Promise<void> => {
    app.get(
      '/security/confirm',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'List the changes that go back unless they are confirmed, soonest first',
          querystring: ListQuery,
          response: { 200: Type.Array(Confirmation) },
        },
      },
      async (request, reply) => {
        const found = await confirmations.list(request.query, viewerOf(request), request.allows('sensitive'));
        return sendPage(request, reply, found);
      },
    );

    app.post(
      '/security/confirm/:id',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'Keep a change that was made with confirm_within',
          description:
            'Only for who made it, and by the way it was made (through the proxy, directly from elsewhere, or on this host): ' +
            'that the confirmation arrives is the proof that it locked nobody out.',
          params: Type.Object({ id: Type.String() }),
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const { id } = request.params;
        if (!isUuid(id)) throw refuse.invalid('invalid id');
        await confirmations.confirm(id.toLowerCase(), request.actor);
        return reply.code(204).send(null);
      },
    );
  };
