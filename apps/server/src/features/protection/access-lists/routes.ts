import {
  AccessDraftResult,
  AccessDraftTest,
  AccessList,
  AccessListInUse,
  AccessListPatch,
  AccessTest,
  AccessTestResult,
  ListQuery,
  NewAccessList,
} from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { parseIdentifier } from '../../../http/identifier.ts';
import { sendPage } from '../../../http/paging.ts';
import { created, ifMatch, tagged } from '../../../http/versions.ts';
import type { AccessLists } from './service.ts';

const tags = ['access-lists'];
const Params = Type.Object({ id: Type.String() });

export const accessListRoutes =
  (lists: AccessLists) =>
  async (app: App): Promise<void> => {
    app.get(
      '/access-lists',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'List access lists',
          querystring: ListQuery,
          response: { 200: Type.Array(AccessList) },
        },
      },
      async (request, reply) => sendPage(request, reply, await lists.list(request.query)),
    );

    app.get(
      '/access-lists/:id',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'Read an access list', params: Params, response: { 200: AccessListInUse } },
      },
      async (request, reply) => tagged(reply, await lists.get(parseIdentifier(request.params.id))),
    );

    app.post(
      '/access-lists',
      {
        config: { policy: 'sensitive', isConfirmable: true },
        schema: { tags, summary: 'Add an access list', body: NewAccessList, response: { 201: AccessList } },
      },
      async (request, reply) => {
        const list = await lists.create(request.body, request.actor);
        return created(reply, `access-lists/${list.id}`, list);
      },
    );

    app.put(
      '/access-lists/:id',
      {
        config: { policy: 'sensitive', isConfirmable: true },
        schema: {
          tags,
          summary: 'Change an access list; answers when the guards serve the change',
          params: Params,
          body: AccessListPatch,
          response: { 200: AccessList },
        },
      },
      async (request, reply) => {
        const list = parseIdentifier(request.params.id);
        return tagged(reply, await lists.update(list, request.body, request.actor, ifMatch(request)));
      },
    );

    app.delete(
      '/access-lists/:id',
      {
        config: { policy: 'sensitive', isConfirmable: true },
        schema: {
          tags,
          summary: 'Delete an access list that no host uses',
          params: Params,
          response: { 204: Type.Null() },
        },
      },
      async (request, reply) => {
        await lists.remove(parseIdentifier(request.params.id), request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );

    app.post(
      '/access-lists/test',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'Tell what a list that is not stored would decide about an address',
          body: AccessDraftTest,
          response: { 200: AccessDraftResult },
        },
      },
      async (request) => {
        const { ip, ...draft } = request.body;
        return lists.testDraft(draft, ip ?? request.actor.ip);
      },
    );

    app.post(
      '/access-lists/:id/test',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'Tell what a list decides about an address',
          params: Params,
          body: AccessTest,
          response: { 200: AccessTestResult },
        },
      },
      async (request) => lists.test(parseIdentifier(request.params.id), request.body.ip),
    );
  };
