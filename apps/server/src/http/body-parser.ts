import type { FastifyInstance } from 'fastify';
import { refuse } from '../errors.ts';
import { findShapeProblem } from './json-shape.ts';

const checkShape = (text: string): Error | null => {
  const problem = findShapeProblem(text);
  switch (problem?.kind) {
    case undefined:
      return null;
    case 'duplicate_key':
      return refuse.invalid(`body has the field ${JSON.stringify(problem.key.slice(0, 64))} twice in one object`);
    case 'too_deep':
      return refuse.invalid('body is nested too deeply');
    default:
      return problem satisfies never;
  }
};

/**
 * Reads JSON bodies. An empty one counts as no body, so that a missing field is what the answer names; a body that
 * tries to reach a prototype, names a field twice or is nested without end is refused.
 */
export const registerBodyParser = (app: FastifyInstance): void => {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') {
      done(null, undefined);
      return;
    }
    parse.call(app, request, body as string, (error, value) =>
      done(error ?? checkShape(body as string), error ? undefined : value),
    );
  });
};
