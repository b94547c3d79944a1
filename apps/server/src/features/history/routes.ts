import { HistoryEntry, HistoryQuery, isSettingKey, ResourceHistoryQuery } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import { refuse } from '@sallyport/store/errors';
import type { FastifyRequest } from 'fastify';
import type { App } from '../../http/app-type.ts';
import { parseIdentifier, parseRowId } from '../../http/identifier.ts';
import { sendPage } from '../../http/paging.ts';
import { tagged } from '../../http/versions.ts';
import { isUuid } from '../../net/uuid.ts';
import { KINDS } from './kinds.ts';
import type { Revert, Reverting } from './revert.ts';
import { type History, isSettings, shownActor, type Viewer } from './service.ts';

const response = { 200: Type.Array(HistoryEntry) };
const tags = ['history'];

/** Whom an answer is for. */
export const viewerOf = (request: FastifyRequest): Viewer => {
  const { identity } = request.actor;
  return {
    actor: request.actor,
    isAdministrator: request.allows('administrator'),
    hidden: [
      ...KINDS.filter(({ policy }) => !request.allows(policy)).map(({ path }) => path),
      ...(request.allows('administrator') ? [] : ['settings']),
    ],
    seesWebhooks: identity.kind !== 'user' || identity.role === 'admin',
  };
};

const revertingOf = (request: FastifyRequest): Reverting => {
  const viewer = viewerOf(request);
  return { actor: request.actor, allows: request.allows, showActor: (name) => shownActor(name, viewer) };
};

export const historyRoutes =
  (history: History, revert: Revert) =>
  async (app: App): Promise<void> => {
    app.get(
      '/history',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'List what was changed, newest first', querystring: HistoryQuery, response },
      },
      async (request, reply) => {
        if (isSettings(request.query.resource ?? '')) await request.checkPolicy('administrator');
        return sendPage(request, reply, await history.list(request.query, viewerOf(request)));
      },
    );

    app.post(
      '/history/:id/revert',
      {
        config: { policy: 'member', isConfirmable: true },
        schema: {
          tags,
          summary: 'Take a change back; answers when that is live',
          description:
            'With the checks and rights of any change, and a change itself. 409 says what is in the way: what others changed since ' +
            'is never overwritten. The answer is the object as its GET shows it; 204 when taking the change back removes it.',
          params: Type.Object({ id: Type.String() }),
          response: { 200: Type.Unknown({ description: 'The object.' }), 204: Type.Null() },
        },
      },
      async (request, reply) => {
        const object = await revert.one(parseRowId(request.params.id), revertingOf(request));
        if (!object) return reply.code(204).send(null);
        return reply.code(200).send(tagged(reply, object));
      },
    );

    app.post(
      '/history/batches/:batch/revert',
      {
        config: { policy: 'member', isConfirmable: true },
        schema: {
          tags,
          summary: 'Take all back that one request changed, or nothing',
          params: Type.Object({ batch: Type.String() }),
          response: {
            200: Type.Object({ reverted: Type.Array(Type.String({ description: 'Paths of what it was.' })) }),
          },
        },
      },
      async (request) => {
        const { batch } = request.params;
        if (!isUuid(batch)) throw refuse.invalid('invalid id');
        return { reverted: await revert.batch(batch.toLowerCase(), revertingOf(request)) };
      },
    );

    for (const kind of KINDS) {
      app.get(
        `/${kind.path}/:${kind.parameter}/history`,
        {
          config: { policy: kind.policy },
          schema: {
            tags,
            summary: `List the changes of ${kind.what}, newest first; by its uuid also of one that is gone`,
            params: Type.Object({ [kind.parameter]: Type.String() }),
            querystring: ResourceHistoryQuery,
            response,
          },
        },
        async (request, reply) => {
          const named = parseIdentifier((request.params as Record<string, string>)[kind.parameter] ?? '');
          return sendPage(request, reply, await history.of(kind, named, request.query, viewerOf(request)));
        },
      );
    }

    app.get(
      '/security/config/history',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'List the changes of the security configuration, newest first',
          querystring: ResourceHistoryQuery,
          response,
        },
      },
      async (request, reply) => {
        const query = { ...request.query, resource: 'security/config' };
        return sendPage(request, reply, await history.list(query, viewerOf(request)));
      },
    );

    app.get(
      '/settings/history',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'List the changes of all settings, newest first',
          querystring: ResourceHistoryQuery,
          response,
        },
      },
      async (request, reply) => {
        const query = { ...request.query, resource: 'settings' };
        return sendPage(request, reply, await history.list(query, viewerOf(request)));
      },
    );

    app.get(
      '/settings/:key/history',
      {
        config: { policy: 'administrator' },
        schema: {
          tags,
          summary: 'List the changes of a setting, newest first',
          params: Type.Object({ key: Type.String() }),
          querystring: ResourceHistoryQuery,
          response,
        },
      },
      async (request, reply) => {
        const { key } = request.params;
        if (!isSettingKey(key)) throw refuse.notFound('Setting not found');
        const query = { ...request.query, resource: `settings/${key}` };
        return sendPage(request, reply, await history.list(query, viewerOf(request)));
      },
    );
  };
