import {
  ConnectionTest,
  ListQuery,
  NewRemoteServer,
  RemoteServer,
  RemoteServerInUse,
  RemoteServerPatch,
  RemoteServerQuery,
} from '@sallyport/contract';
import { type Static, Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { parseIdentifier } from '../../../http/identifier.ts';
import { sendPage } from '../../../http/paging.ts';
import { created, ifMatch, tagged } from '../../../http/versions.ts';
import type { RemoteServers } from './service.ts';

const tags = ['remote-servers'];
const Params = Type.Object({ uuid: Type.String() });

const named = ({ uuid }: Static<typeof Params>) => parseIdentifier(uuid);

export const remoteServerRoutes =
  (servers: RemoteServers) =>
  async (app: App): Promise<void> => {
    const querystring = Type.Object({ ...ListQuery.properties, ...RemoteServerQuery.properties });
    app.get(
      '/remote-servers',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'List remote servers', querystring, response: { 200: Type.Array(RemoteServer) } },
      },
      async (request, reply) => {
        const { enabled } = request.query;
        const isEnabled = enabled === undefined ? undefined : enabled === 'true';
        return sendPage(request, reply, await servers.list(request.query, isEnabled));
      },
    );

    app.get(
      '/remote-servers/:uuid',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'Read a remote server', params: Params, response: { 200: RemoteServerInUse } },
      },
      async (request, reply) => tagged(reply, await servers.get(named(request.params))),
    );

    app.post(
      '/remote-servers',
      {
        config: { policy: 'sensitive' },
        schema: { tags, summary: 'Add a remote server', body: NewRemoteServer, response: { 201: RemoteServer } },
      },
      async (request, reply) => {
        const server = await servers.create(request.body, request.actor);
        return created(reply, `remote-servers/${server.uuid}`, server);
      },
    );

    app.put(
      '/remote-servers/:uuid',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Change a remote server',
          params: Params,
          body: RemoteServerPatch,
          response: { 200: RemoteServer },
        },
      },
      async (request, reply) =>
        tagged(reply, await servers.update(named(request.params), request.body, request.actor, ifMatch(request))),
    );

    app.delete(
      '/remote-servers/:uuid',
      {
        config: { policy: 'sensitive' },
        schema: { tags, summary: 'Delete a remote server', params: Params, response: { 204: Type.Null() } },
      },
      async (request, reply) => {
        await servers.remove(named(request.params), request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );

    app.post(
      '/remote-servers/:uuid/test',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Try a TCP connection and remember the result',
          params: Params,
          response: { 200: ConnectionTest },
        },
      },
      async (request) => servers.test(named(request.params), request.actor),
    );
  };
