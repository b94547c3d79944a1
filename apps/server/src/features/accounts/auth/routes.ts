import { ListQuery, Login, Me, PasswordChange, Session, Setup, SetupState, SignedIn } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from '../../../http/app-type.ts';
import { sendPage } from '../../../http/paging.ts';
import { clearedSessionCookie, sessionCookie } from '../../../http/session-cookie.ts';
import { locate } from '../../../http/versions.ts';
import type { Auth } from './service.ts';
import type { Sessions } from './sessions.ts';
import type { SetupService } from './setup.ts';

const tags = ['auth'];

/** Sends the token in the body for programs and in a cookie for browsers. */
const sendSignedIn = (request: FastifyRequest, reply: FastifyReply, status: 200 | 201, signedIn: SignedIn) =>
  reply
    .header('set-cookie', sessionCookie(request.raw, signedIn.token, new Date(signedIn.expires_at)))
    .code(status)
    .send(signedIn);

/** The account's own end of `me`, registered twice: the spec names it outside the versioned root. */
export const meRoute =
  (auth: Pick<Auth, 'me'>) =>
  async (app: App): Promise<void> => {
    app.get(
      '/auth/me',
      {
        config: { policy: 'account' },
        schema: { tags, summary: 'Tell who is signed in; 401 when nobody is', response: { 200: Me } },
      },
      async (request) => auth.me(request.actor),
    );
  };

export const authRoutes =
  ({ auth, sessions, setup }: { auth: Auth; sessions: Sessions; setup: SetupService }) =>
  async (app: App): Promise<void> => {
    await meRoute(auth)(app);

    app.get(
      '/setup',
      {
        config: { policy: 'public' },
        schema: { tags, summary: 'Tell whether the first administrator is missing', response: { 200: SetupState } },
      },
      async () => setup.state(),
    );

    app.post(
      '/setup',
      {
        config: { policy: 'public' },
        schema: {
          tags,
          summary: 'Create the first administrator; works once',
          body: Setup,
          response: { 201: SignedIn },
        },
      },
      async (request, reply) => {
        const signedIn = await setup.complete(request.body, request.actor);
        locate(reply, `users/${signedIn.user.id}`, signedIn.user);
        return sendSignedIn(request, reply, 201, signedIn) as never;
      },
    );

    app.post(
      '/auth/login',
      {
        config: { policy: 'public' },
        schema: { tags, summary: 'Sign in; the session lasts 24 hours', body: Login, response: { 200: SignedIn } },
      },
      async (request, reply) =>
        sendSignedIn(request, reply, 200, await auth.login(request.body, request.actor)) as never,
    );

    app.post(
      '/auth/logout',
      {
        config: { policy: 'account' },
        schema: { tags, summary: 'End this session', response: { 204: Type.Null() } },
      },
      async (request, reply) => {
        await sessions.logout(request.actor);
        return reply.header('set-cookie', clearedSessionCookie(request.raw)).code(204).send(null);
      },
    );

    app.post(
      '/auth/change-password',
      {
        config: { policy: 'account' },
        schema: {
          tags,
          summary: 'Change the own password; ends all sessions of the user',
          body: PasswordChange,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await auth.changePassword(request.body, request.actor);
        return reply.header('set-cookie', clearedSessionCookie(request.raw)).code(204).send(null);
      },
    );

    app.get(
      '/auth/sessions',
      {
        config: { policy: 'account' },
        schema: {
          tags,
          summary: 'List the own sessions',
          querystring: ListQuery,
          response: { 200: Type.Array(Session) },
        },
      },
      async (request, reply) => sendPage(request, reply, await sessions.list(request.query, request.actor)),
    );

    app.delete(
      '/auth/sessions/:id',
      {
        config: { policy: 'account' },
        schema: {
          tags,
          summary: 'End one of the own sessions',
          params: Type.Object({ id: Type.String() }),
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await sessions.revoke(request.params.id, request.actor);
        return reply.code(204).send(null);
      },
    );
  };
