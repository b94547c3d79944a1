import { AcmeAccount, AcmeAccountInUse, AcmeAccountPatch, ListQuery, NewAcmeAccount } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../../http/app-type.ts';
import { parseIdentifier } from '../../../../http/identifier.ts';
import { sendPage } from '../../../../http/paging.ts';
import { created, ifMatch, tagged } from '../../../../http/versions.ts';
import type { Accounts } from './service.ts';

const tags = ['acme'];
const Params = Type.Object({ id: Type.String() });

export const accountRoutes =
  (accounts: Accounts) =>
  async (app: App): Promise<void> => {
    app.get(
      '/acme/accounts',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'List accounts with certificate authorities',
          querystring: ListQuery,
          response: { 200: Type.Array(AcmeAccount) },
        },
      },
      async (request, reply) => sendPage(request, reply, await accounts.list(request.query)),
    );

    app.get(
      '/acme/accounts/:id',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'Read an account and the certificates that are ordered with it',
          params: Params,
          response: { 200: AcmeAccountInUse },
        },
      },
      async (request, reply) => tagged(reply, await accounts.get(parseIdentifier(request.params.id))),
    );

    app.post(
      '/acme/accounts',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Register an account with a certificate authority; answers when it has',
          body: NewAcmeAccount,
          response: { 201: AcmeAccount },
        },
      },
      async (request, reply) => {
        const account = await accounts.create(request.body, request.actor);
        return created(reply, `acme/accounts/${account.uuid}`, account);
      },
    );

    app.put(
      '/acme/accounts/:id',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Rename an account, or change the roots that its authority is verified with',
          params: Params,
          body: AcmeAccountPatch,
          response: { 200: AcmeAccount },
        },
      },
      async (request, reply) => {
        const id = parseIdentifier(request.params.id);
        return tagged(reply, await accounts.update(id, request.body, request.actor, ifMatch(request)));
      },
    );

    app.delete(
      '/acme/accounts/:id',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Delete an account that no certificate is ordered with; the authority is told, if it answers',
          params: Params,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await accounts.remove(parseIdentifier(request.params.id), request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );
  };
