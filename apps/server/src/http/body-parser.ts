import type { FastifyInstance } from 'fastify';

/**
 * Reads JSON bodies. An empty one counts as no body, so that a missing field is what the answer names; a body that
 * tries to reach a prototype is refused.
 */
export const registerBodyParser = (app: FastifyInstance): void => {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined);
    else parse.call(app, request, body as string, done);
  });
};
