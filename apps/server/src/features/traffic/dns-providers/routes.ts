import {
  DnsProvider,
  DnsProviderInUse,
  DnsProviderPatch,
  DnsProviderTest,
  DnsProviderTestRequest,
  DnsProviderType,
  ListQuery,
  NewDnsProvider,
} from '@sallyport/contract';
import { type Static, Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { parseIdentifier } from '../../../http/identifier.ts';
import { sendPage } from '../../../http/paging.ts';
import { created, ifMatch, tagged } from '../../../http/versions.ts';
import type { DnsProviders } from './service.ts';

const tags = ['dns-providers'];
const Params = Type.Object({ id: Type.String() });
/** What they may be written with is nothing for standard users, who change none of them. */
const config = { policy: 'sensitive' } as const;

const named = ({ id }: Static<typeof Params>) => parseIdentifier(id);

export const dnsProviderRoutes =
  (providers: DnsProviders) =>
  async (app: App): Promise<void> => {
    app.get(
      '/dns-providers/types',
      {
        config,
        schema: {
          tags,
          summary: 'List the types of DNS providers that there are here, with their fields',
          description: 'rfc2136 and webhook always, and all that the installed lego knows.',
          querystring: ListQuery,
          response: { 200: Type.Array(DnsProviderType) },
        },
      },
      async (request, reply) => sendPage(request, reply, await providers.types(request.query)),
    );

    app.get(
      '/dns-providers',
      {
        config,
        schema: {
          tags,
          summary: 'List DNS providers',
          querystring: ListQuery,
          response: { 200: Type.Array(DnsProvider) },
        },
      },
      async (request, reply) => sendPage(request, reply, await providers.list(request.query)),
    );

    app.get(
      '/dns-providers/:id',
      {
        config,
        schema: {
          tags,
          summary: 'Read a DNS provider and the certificates that are proven by it',
          params: Params,
          response: { 200: DnsProviderInUse },
        },
      },
      async (request, reply) => tagged(reply, await providers.get(named(request.params))),
    );

    app.post(
      '/dns-providers',
      {
        config,
        schema: { tags, summary: 'Add a DNS provider', body: NewDnsProvider, response: { 201: DnsProvider } },
      },
      async (request, reply) => {
        const provider = await providers.create(request.body, request.actor);
        return created(reply, `dns-providers/${provider.id}`, provider);
      },
    );

    app.put(
      '/dns-providers/:id',
      {
        config,
        schema: {
          tags,
          summary: 'Change a DNS provider',
          params: Params,
          body: DnsProviderPatch,
          response: { 200: DnsProvider },
        },
      },
      async (request, reply) =>
        tagged(reply, await providers.update(named(request.params), request.body, request.actor, ifMatch(request))),
    );

    app.delete(
      '/dns-providers/:id',
      {
        config,
        schema: {
          tags,
          summary: 'Delete a DNS provider that no certificate is proven by',
          params: Params,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await providers.remove(named(request.params), request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );

    app.post(
      '/dns-providers/:id/test',
      {
        config,
        schema: {
          tags,
          summary: 'Set a record of a challenge, look for it at the servers of its zone, and take it away',
          params: Params,
          body: DnsProviderTestRequest,
          response: { 200: DnsProviderTest },
        },
      },
      async (request) => providers.test(named(request.params), request.body.zone, request.actor),
    );
  };
