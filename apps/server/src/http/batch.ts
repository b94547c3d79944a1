import type { FastifyInstance } from 'fastify';

export const BATCH_HEADER = 'X-Sallyport-Batch';

/** Whether requests by this method may change something. */
export const isChanging = (method: string): boolean => !['GET', 'HEAD', 'OPTIONS'].includes(method.toUpperCase());

/** Tells whoever changed something by which batch of the history it can be taken back. */
export const registerBatch = (app: FastifyInstance): void => {
  app.addHook('onSend', async (request, reply, payload) => {
    const { policy = 'public' } = request.routeOptions.config;
    const isDone = reply.statusCode < 300 && isChanging(request.method) && policy !== 'public';
    // The answer of an earlier request names that one's.
    if (isDone && !reply.hasHeader(BATCH_HEADER)) reply.header(BATCH_HEADER, request.id);
    return payload;
  });
};
