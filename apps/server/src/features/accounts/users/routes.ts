import { ListQuery, NewUser, User, UserPatch } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { Users } from '@sallyport/store/accounts/users/service';
import type { App } from '../../../http/app-type.ts';
import { parseRowId } from '../../../http/identifier.ts';
import { sendPage } from '../../../http/paging.ts';
import { created, ifMatch, tagged } from '../../../http/versions.ts';

const tags = ['users'];
const Params = Type.Object({ id: Type.String() });

export const userRoutes =
  (users: Users) =>
  async (app: App): Promise<void> => {
    app.get(
      '/users',
      {
        config: { policy: 'administrator' },
        schema: { tags, summary: 'List users', querystring: ListQuery, response: { 200: Type.Array(User) } },
      },
      async (request, reply) => sendPage(request, reply, await users.list(request.query)),
    );

    app.get(
      '/users/:id',
      {
        config: { policy: 'administrator' },
        schema: { tags, summary: 'Read a user', params: Params, response: { 200: User } },
      },
      async (request, reply) => tagged(reply, await users.get(parseRowId(request.params.id))),
    );

    app.post(
      '/users',
      {
        config: { policy: 'granting' },
        schema: { tags, summary: 'Add a user with a password', body: NewUser, response: { 201: User } },
      },
      async (request, reply) => {
        const user = await users.create(request.body, request.actor);
        return created(reply, `users/${user.id}`, user);
      },
    );

    app.put(
      '/users/:id',
      {
        config: { policy: 'granting' },
        schema: {
          tags,
          summary: 'Change a user; acts at once on sessions and tokens',
          params: Params,
          body: UserPatch,
          response: { 200: User },
        },
      },
      async (request, reply) => {
        const id = parseRowId(request.params.id);
        return tagged(reply, await users.update(id, request.body, request.actor, ifMatch(request)));
      },
    );

    app.delete(
      '/users/:id',
      {
        config: { policy: 'administrator' },
        schema: { tags, summary: 'Delete a user', params: Params, response: { 204: Type.Null() } },
      },
      async (request, reply) => {
        await users.remove(parseRowId(request.params.id), request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );

    app.delete(
      '/users/:id/totp',
      {
        config: { policy: 'granting' },
        schema: {
          tags,
          summary: 'Turn two-factor sign-in off for a user who lost it',
          params: Params,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await users.clearTotp(parseRowId(request.params.id), request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );
  };
