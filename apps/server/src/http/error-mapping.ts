import { diskOf, isDiskFull, isStoreUnavailable } from '@sallyport/store/database/faults';
import { Refusal, refuse } from '@sallyport/store/errors';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const send = (reply: FastifyReply, refusal: Refusal) => {
  if (refusal.headers) reply.headers(refusal.headers);
  return reply.code(refusal.status).send({
    error: refusal.message,
    code: refusal.status,
    ...(refusal.details === undefined ? {} : { details: refusal.details }),
    ...(refusal.current === undefined ? {} : { current: refusal.current }),
    ...(refusal.warning === undefined ? {} : { warning: refusal.warning }),
  });
};

/** What Fastify itself refuses, in the words and with the statuses of contract.md (Errors). */
const translate = (error: FastifyError): Refusal | undefined => {
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
    case 'FST_REQ_FILE_TOO_LARGE':
      return refuse.tooLarge('The request is larger than allowed');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return refuse.invalid('Content-Type must be application/json');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return refuse.invalid('Content-Length does not match the body');
    case 'FST_INVALID_MULTIPART_CONTENT_TYPE':
      return refuse.invalid('Content-Type must be multipart/form-data');
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
      return refuse.invalid('body must be valid JSON');
    case 'FST_ERR_BAD_URL':
      return refuse.invalid('The path has a percent sign that encodes nothing');
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Refusal(414, 'A part of the path is too long');
    default:
  }
  if (error instanceof SyntaxError) return refuse.invalid('body must be valid JSON');
  const status = error.statusCode ?? 500;
  return status >= 400 && status < 500 ? new Refusal(status, error.message) : undefined;
};

/** Answers what fails before a route is found, where no error handler is reached. */
export const answerUnroutable = (error: FastifyError, { raw }: FastifyRequest, reply: FastifyReply): void => {
  // No hook is reached either: after an upgrade nobody else would ever close the connection.
  if (raw.headers.upgrade !== undefined) reply.raw.once('finish', () => raw.socket.destroySoon());
  void send(reply, translate(error) ?? refuse.invalid('The request can not be understood'));
};

/** `/proxy-hosts/:uuid` → a pattern for paths; find-my-way itself can't be asked which methods a path has. */
const pathPattern = (route: string) =>
  new RegExp(
    `^${route
      .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll(/:\w+/g, '[^/]+')
      .replaceAll('*', '.*')}/?$`,
  );

export interface ErrorMappingOptions {
  /** Answers with a page where somebody looks who is no program; false when it did not. */
  answerPage: (request: FastifyRequest, reply: FastifyReply) => boolean;
}

/** Makes every answer that is not a success `{error, code, details?}`: refusals, 404, 405 with `Allow`, and faults. */
export const registerErrorMapping = (app: FastifyInstance, { answerPage }: ErrorMappingOptions): void => {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    const entry = routes.get(url) ?? { pattern: pathPattern(url), methods: new Set<string>() };
    for (const one of [method].flat()) entry.methods.add(one);
    routes.set(url, entry);
  });
  const answerNotFound = (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.split('?', 1)[0] ?? '';
    const methods = new Set<string>();
    for (const route of routes.values()) {
      if (route.pattern.test(path)) for (const method of route.methods) methods.add(method);
    }
    if (methods.size === 0 && answerPage(request, reply)) return reply;
    // A route that found nothing at an address of its own (a file that is not there) says so by coming here, too.
    if (methods.size === 0 || methods.has(request.method)) return send(reply, refuse.notFound('Not found'));
    const allow = [...methods].sort().join(', ');
    return send(reply, new Refusal(405, `Method not allowed; this path takes ${allow}`, { headers: { allow } }));
  };
  app.setNotFoundHandler(answerNotFound);
  app.setErrorHandler((error: FastifyError, request, reply) => {
    // Whatever is wrong with a body that nobody would have read.
    if (request.is404) return answerNotFound(request, reply);
    const refusal = error instanceof Refusal ? error : translate(error);
    if (refusal) return send(reply, refusal);
    request.log.error({ err: error, reference: request.id }, 'request failed');
    if (isDiskFull(error)) {
      const details = `nothing was changed; free space on the disk of the ${diskOf(error)}`;
      return send(reply, refuse.diskFull('The disk is full', { details }));
    }
    if (isStoreUnavailable(error)) {
      // The word that it was stored may be what got lost.
      const details =
        request.method === 'GET' ? {} : { details: 'a change may have been stored nonetheless: read it back' };
      const headers = { 'retry-after': '5' };
      return send(reply, refuse.unavailable('The database can not be reached', { headers, ...details }));
    }
    return send(reply, refuse.failed('Internal error', { details: `reference ${request.id}` }));
  });
};
