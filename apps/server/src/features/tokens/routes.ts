import { ApiToken, CreatedApiToken, NewApiToken } from '@sallyport/contract';
import { Type } from 'typebox';
import type { App } from '../../http/app-type.ts';
import { parseRowId } from '../../http/row-id.ts';
import { requireSession } from '../auth/sessions.ts';
import type { Tokens } from './service.ts';

const tags = ['tokens'];

export const tokenRoutes =
  (tokens: Tokens) =>
  async (app: App): Promise<void> => {
    app.get(
      '/tokens',
      {
        config: { policy: 'administrator' },
        schema: { tags, summary: 'List API tokens', response: { 200: Type.Array(ApiToken) } },
      },
      async () => tokens.list(),
    );

    app.post(
      '/tokens',
      {
        config: { policy: 'granting' },
        schema: {
          tags,
          summary: 'Create an API token; it is shown only in this answer',
          body: NewApiToken,
          response: { 201: CreatedApiToken },
        },
      },
      async (request, reply) => {
        const { id } = requireSession(request.actor);
        return reply.code(201).send(await tokens.create(request.body, id, request.actor));
      },
    );

    app.delete(
      '/tokens/:id',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'Revoke an API token at once',
          params: Type.Object({ id: Type.String() }),
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await tokens.remove(parseRowId(request.params.id), request.actor);
        return reply.code(204).send(null);
      },
    );
  };
