import { Type } from '@sallyport/contract/schema';
import { refuse } from '@sallyport/store/errors';
import type { FastifyInstance } from 'fastify';
import type { ObjectSchema } from './known-fields.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The change may lock its maker out: it takes `confirm_within`. */
    isConfirmable?: boolean;
  }
}

export const CONFIRM_HEADER = 'X-Sallyport-Confirm';
export const REVERTS_AT_HEADER = 'X-Sallyport-Reverts-At';

const PARAMETER = Type.Optional(
  Type.Integer({
    minimum: 10,
    maximum: 600,
    description:
      'Seconds after which the change goes back by itself unless POST /security/confirm/:id arrives, from who made it and by the same way.',
  }),
);

/** Lets changes that may lock their maker out go back by themselves (contract.md). Routes without it refuse the parameter. */
export const registerConfirm = (app: FastifyInstance): void => {
  app.addHook('onRoute', (route) => {
    if (!route.config?.isConfirmable) return;
    const before = route.schema?.querystring as ObjectSchema | undefined;
    const properties = { ...before?.properties, confirm_within: PARAMETER };
    route.schema = { ...route.schema, querystring: Type.Object(properties as Parameters<typeof Type.Object>[0]) };
  });
  app.addHook('preHandler', async (request) => {
    if (!request.routeOptions.config.isConfirmable) return;
    const { confirm_within } = request.query as { confirm_within?: number };
    if (confirm_within === undefined) return;
    if (!request.allows('member')) throw refuse.unauthorized('confirm_within takes a sign-in: nobody could confirm');
    request.actor = { ...request.actor, confirm: { withinMs: confirm_within * 1_000 } };
  });
  app.addHook('onSend', async (request, reply, payload) => {
    // Undefined where the request was refused before anybody knew who it was.
    const revertsAt = request.actor?.confirm?.revertsAt;
    if (revertsAt !== undefined && reply.statusCode < 300) {
      reply.header(CONFIRM_HEADER, request.id).header(REVERTS_AT_HEADER, revertsAt);
    }
    return payload;
  });
};
