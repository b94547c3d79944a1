import { Decision, DecisionQuery, NewDecision } from '@sallyport/contract';
import { Type } from '@sallyport/contract/schema';
import type { App } from '../../../http/app-type.ts';
import { parseIdentifier } from '../../../http/identifier.ts';
import { sendPage } from '../../../http/paging.ts';
import { created, ifMatch, tagged } from '../../../http/versions.ts';
import type { Decisions } from './service.ts';

const tags = ['decisions'];
const Params = Type.Object({ id: Type.String() });
const DecisionAnswer = Type.Object({ decision: Decision });

export const decisionRoutes =
  (decisions: Decisions) =>
  async (app: App): Promise<void> => {
    app.get(
      '/security/decisions',
      {
        config: { policy: 'member' },
        schema: {
          tags,
          summary: 'List decisions in force, newest first',
          querystring: DecisionQuery,
          response: { 200: Type.Object({ decisions: Type.Array(Decision) }) },
        },
      },
      async (request, reply) => ({ decisions: sendPage(request, reply, await decisions.list(request.query)) }),
    );

    app.get(
      '/security/decisions/:id',
      {
        config: { policy: 'member' },
        schema: { tags, summary: 'Read a decision in force', params: Params, response: { 200: DecisionAnswer } },
      },
      async (request, reply) => ({
        decision: tagged(reply, await decisions.get(parseIdentifier(request.params.id))),
      }),
    );

    app.post(
      '/security/decisions',
      {
        config: { policy: 'sensitive', isConfirmable: true },
        schema: {
          tags,
          summary: 'Ban an address or network; answers when it is enforced',
          body: NewDecision,
          response: { 201: DecisionAnswer },
        },
      },
      async (request, reply) => {
        const decision = await decisions.create(request.body, request.actor);
        return { decision: created(reply, `security/decisions/${decision.id}`, decision) };
      },
    );

    app.delete(
      '/security/decisions/:id',
      {
        config: { policy: 'sensitive', isConfirmable: true },
        schema: { tags, summary: 'End a decision', params: Params, response: { 204: Type.Null() } },
      },
      async (request, reply) => {
        await decisions.remove(parseIdentifier(request.params.id), request.actor, ifMatch(request));
        return reply.code(204).send(null);
      },
    );
  };
