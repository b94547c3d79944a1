import {
  BulkDelete,
  BulkPatch,
  ListQuery,
  NewProxyHost,
  OriginTest,
  OriginToTest,
  ProxyHost,
  ProxyHostPatch,
  ProxyHostsSummary,
} from '@sallyport/contract';
import { type Static, Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { parseIdentifier } from '../../../http/identifier.ts';
import { sendPage } from '../../../http/paging.ts';
import { created, ifMatch, tagged } from '../../../http/versions.ts';
import type { createOriginTest } from './origin-test.ts';
import type { ProxyHosts } from './service.ts';

const tags = ['proxy-hosts'];
const Params = Type.Object({ uuid: Type.String() });

const named = ({ uuid }: Static<typeof Params>) => parseIdentifier(uuid);

export const proxyHostRoutes =
  (hosts: ProxyHosts, testOrigin: ReturnType<typeof createOriginTest>) =>
  async (app: App): Promise<void> => {
    app.get(
      '/proxy-hosts',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'List proxy hosts', querystring: ListQuery, response: { 200: Type.Array(ProxyHost) } },
      },
      async (request, reply) => sendPage(request, reply, await hosts.list(request.query)),
    );

    app.get(
      '/proxy-hosts/summary',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'Count proxy hosts, and name those with an issue or warnings',
          response: { 200: ProxyHostsSummary },
        },
      },
      () => hosts.summary(),
    );

    app.get(
      '/proxy-hosts/:uuid',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'Read a proxy host', params: Params, response: { 200: ProxyHost } },
      },
      async (request, reply) => tagged(reply, await hosts.get(named(request.params))),
    );

    app.post(
      '/proxy-hosts',
      {
        config: { policy: 'member', isConfirmable: true },
        schema: {
          tags,
          summary: 'Add a proxy host; answers when it is live',
          body: NewProxyHost,
          response: { 201: ProxyHost },
        },
      },
      async (request, reply) => {
        const host = await hosts.create(request.body, request.actor);
        return created(reply, `proxy-hosts/${host.uuid}`, host);
      },
    );

    app.put(
      '/proxy-hosts/:uuid',
      {
        config: { policy: 'member', isConfirmable: true },
        schema: {
          tags,
          summary: 'Change a proxy host; answers when the change is live',
          params: Params,
          body: ProxyHostPatch,
          response: { 200: ProxyHost },
        },
      },
      async (request, reply) =>
        tagged(reply, await hosts.update(named(request.params), request.body, request.actor, ifMatch(request))),
    );

    app.delete(
      '/proxy-hosts/:uuid',
      {
        config: { policy: 'member', isConfirmable: true },
        schema: { tags, summary: 'Delete a proxy host', params: Params, response: { 204: Type.Null() } },
      },
      async (request, reply) => {
        await hosts.remove(named(request.params), request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );

    app.post(
      '/proxy-hosts/test-origin',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'Try an origin before a host forwards to it',
          body: OriginToTest,
          response: { 200: OriginTest },
        },
      },
      async (request) => testOrigin(request.body, request.actor),
    );

    app.post(
      '/proxy-hosts/bulk',
      {
        config: { policy: 'member', isConfirmable: true },
        schema: {
          tags,
          summary: 'Change many proxy hosts alike, all or none',
          body: BulkPatch,
          response: { 200: Type.Array(ProxyHost) },
        },
      },
      async (request) => hosts.updateMany(request.body, request.actor),
    );

    app.post(
      '/proxy-hosts/bulk-delete',
      {
        config: { policy: 'member', isConfirmable: true },
        schema: {
          tags,
          summary: 'Delete many proxy hosts, all or none',
          body: BulkDelete,
          response: { 200: Type.Object({ deleted: Type.Integer() }) },
        },
      },
      async (request) => ({ deleted: await hosts.removeMany(request.body.uuids, request.actor) }),
    );
  };
