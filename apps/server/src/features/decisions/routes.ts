import { Decision, DecisionQuery, NewDecision } from '@sallyport/contract';
import { Type } from 'typebox';
import type { App } from '../../http/app-type.ts';
import { parseRowId } from '../../http/row-id.ts';
import type { Decisions } from './service.ts';

const tags = ['decisions'];
const Params = Type.Object({ id: Type.String() });
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
      async (request) => ({ decisions: await decisions.list(request.query) }),
    );

    app.post(
      '/security/decisions',
      {
        config: { policy: 'sensitive' },
        schema: {
          tags,
          summary: 'Ban an address or network; answers when it is enforced',
          body: NewDecision,
          response: { 201: Type.Object({ decision: Decision }) },
        },
      },
      async (request, reply) => reply.code(201).send({ decision: await decisions.create(request.body, request.actor) }),
    );

    app.delete(
      '/security/decisions/:id',
      {
        config: { policy: 'sensitive' },
        schema: { tags, summary: 'End a decision', params: Params, response: { 204: Type.Null() } },
      },
      async (request, reply) => {
        await decisions.remove(parseRowId(request.params.id), request.actor);
        return reply.code(204).send(null);
      },
    );
  };
