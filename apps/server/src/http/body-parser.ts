import { isUtf8 } from 'node:buffer';
import { refuse } from '@sallyport/store/errors';
import type { FastifyInstance } from 'fastify';
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
 * tries to reach a prototype, names a field twice, is nested without end or is no UTF-8 is refused, like one that is
 * compressed or of another type.
 */
export const registerBodyParser = (app: FastifyInstance): void => {
  const parse = app.getDefaultJsonParser('error', 'error');
  // Plain text too: pages of other sites can send it without asking first.
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addHook('preParsing', async ({ headers }) => {
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity') throw refuse.invalid('Content-Encoding is not supported');
  });
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (body.length === 0) {
      done(null, undefined);
      return;
    }
    // Decoded all the same, what is no UTF-8 would turn different passwords into one.
    if (!isUtf8(body as Buffer)) {
      done(refuse.invalid('body must be UTF-8'));
      return;
    }
    const text = body.toString();
    parse.call(app, request, text, (error, value) => done(error ?? checkShape(text), error ? undefined : value));
  });
};
