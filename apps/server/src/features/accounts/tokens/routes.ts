import { ApiToken, CreatedApiToken, ListQuery, NewApiToken } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import { requireSession } from '@sallyport/store/accounts/session-only';
import type { Tokens } from '@sallyport/store/accounts/tokens/service';
import type { App } from '../../../http/app-type.ts';
import { parseRowId } from '../../../http/identifier.ts';
import { sendPage } from '../../../http/paging.ts';
import { ifMatch, locate, tagged } from '../../../http/versions.ts';

const tags = ['tokens'];
const Params = Type.Object({ id: Type.String() });

export const tokenRoutes =
  (tokens: Tokens) =>
  async (app: App): Promise<void> => {
    app.get(
      '/tokens',
      {
        config: { policy: 'administrator' },
        schema: { tags, summary: 'List API tokens', querystring: ListQuery, response: { 200: Type.Array(ApiToken) } },
      },
      async (request, reply) => sendPage(request, reply, await tokens.list(request.query)),
    );

    app.get(
      '/tokens/:id',
      {
        config: { policy: 'administrator' },
        schema: { tags, summary: 'Read what is known of an API token', params: Params, response: { 200: ApiToken } },
      },
      async (request, reply) => tagged(reply, await tokens.get(parseRowId(request.params.id))),
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
        const { token, ...stored } = await tokens.create(request.body, id, request.actor);
        locate(reply, `tokens/${stored.id}`, stored);
        return { ...stored, token };
      },
    );

    app.delete(
      '/tokens/:id',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'Revoke an API token at once',
          params: Params,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await tokens.remove(parseRowId(request.params.id), request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );
  };
