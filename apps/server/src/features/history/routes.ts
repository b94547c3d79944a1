import { HistoryEntry, HistoryQuery, ResourceHistoryQuery } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { FastifyRequest } from 'fastify';
import type { App } from '../../http/app-type.ts';
import { parseIdentifier } from '../../http/identifier.ts';
import { sendPage } from '../../http/paging.ts';
import { type History, isSettings, type Kind, type Viewer } from './service.ts';

const response = { 200: Type.Array(HistoryEntry) };
const tags = ['history'];

/** Objects by uuid, with the name of their identifier in paths. */
const KINDS: readonly (Kind & { parameter: 'uuid' | 'id'; what: string })[] = [
  { path: 'proxy-hosts', table: 'proxy_hosts', parameter: 'uuid', what: 'a proxy host' },
  { path: 'remote-servers', table: 'remote_servers', parameter: 'uuid', what: 'a remote server' },
  { path: 'certificates', table: 'certificates', parameter: 'id', what: 'a certificate' },
  { path: 'access-lists', table: 'access_lists', parameter: 'id', what: 'an access list' },
  { path: 'security/rulesets', table: 'rulesets', parameter: 'id', what: 'a ruleset' },
];

const viewerOf = (request: FastifyRequest): Viewer => {
  const { identity } = request.actor;
  return {
    actor: request.actor,
    isAdministrator: request.allows('administrator'),
    seesWebhooks: identity.kind !== 'user' || identity.role === 'admin',
  };
};

export const historyRoutes =
  (history: History) =>
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

    for (const kind of KINDS) {
      app.get(
        `/${kind.path}/:${kind.parameter}/history`,
        {
          config: { policy: 'member' },
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
        const query = { ...request.query, resource: `settings/${request.params.key}` };
        return sendPage(request, reply, await history.list(query, viewerOf(request)));
      },
    );
  };
