import { hash } from 'node:crypto';
import type { Actor } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { BeginRequest, FinishRequest } from './answer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Ends what `Idempotency-Key` began; undefined without one. */
    finishOnce: FinishRequest | undefined;
  }
}

/** Printable, without blanks at its ends. */
const KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;
const KEPT_HEADERS = [
  'location',
  'etag',
  'content-type',
  'x-sallyport-batch',
  'x-sallyport-confirm',
  'x-sallyport-reverts-at',
] as const;

/** Whose keys they are: nobody gets the answer to somebody else's request. */
const callerOf = ({ identity, ip }: Actor): string => {
  switch (identity.kind) {
    case 'user':
      return identity.token ? `token ${identity.token.id}` : `user ${identity.id}`;
    case 'anonymous':
      return `anonymous ${ip}`;
    case 'local':
    case 'system':
      return identity.kind;
    default:
      return identity satisfies never;
  }
};

const digest = (parts: readonly unknown[]): string => hash('sha256', JSON.stringify(parts), 'base64url');

/** What was made, or taken in to be made. */
const MADE = [201, 202];

/** Whether a route makes something: setting up does as well, but for nobody in particular, and only once. */
const isCreating = ({ method, schema, config }: RouteOptions): boolean =>
  method === 'POST' &&
  config?.policy !== 'public' &&
  MADE.some((status) => Object.hasOwn((schema?.response ?? {}) as object, String(status)));

/** Lets `Idempotency-Key` on any POST that creates stand for one request, whose answer is given again (contract.md). */
export const registerIdempotency = (app: FastifyInstance, beginRequest: BeginRequest): void => {
  const begin = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const key = request.headers['idempotency-key'];
    if (key === undefined) return undefined;
    if (typeof key !== 'string' || !KEY.test(key)) {
      throw refuse.invalid('Idempotency-Key must be 1 to 255 printable ASCII characters');
    }
    const id = digest([callerOf(request.actor), key]);
    const begun = await beginRequest(id, digest([request.url, request.body ?? null]));
    if ('again' in begun) {
      const { status, headers, body } = begun.again;
      return reply.code(status).headers(headers).header('idempotency-replayed', 'true').send(body);
    }
    request.finishOnce = begun.finish;
    request.actor = { ...request.actor, idempotencyId: id };
    return undefined;
  };

  const finish = async (request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> => {
    const { finishOnce } = request;
    if (!finishOnce) return payload;
    request.finishOnce = undefined;
    const headers: Record<string, string> = {};
    for (const name of KEPT_HEADERS) {
      const value = reply.getHeader(name);
      if (typeof value === 'string') headers[name] = value;
    }
    const status = reply.statusCode;
    const isMade = MADE.includes(status) && typeof payload === 'string';
    try {
      await finishOnce(isMade ? { status, headers, body: payload } : undefined);
    } catch (err) {
      // What was made is made; only the answer can't be given again.
      request.log.error({ err }, 'the answer to an idempotent request could not be kept');
    }
    return payload;
  };

  app.decorateRequest('finishOnce', undefined);
  app.addHook('onRoute', (route) => {
    if (!isCreating(route)) return;
    // After the route's own: the body has to be there.
    route.preHandler = [...[route.preHandler ?? []].flat(), begin] as never;
    route.onSend = [...[route.onSend ?? []].flat(), finish] as never;
  });
};
