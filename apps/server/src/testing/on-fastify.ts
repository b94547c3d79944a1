import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';

/** Runs `start`, and hands each Fastify instance that it makes to `look` before anything is registered. */
export const onFastify = async <Started>(
  look: (fastify: FastifyInstance) => void,
  start: () => Promise<Started>,
): Promise<Started> => {
  const listen = (message: unknown) => look((message as { fastify: FastifyInstance }).fastify);
  subscribe('fastify.initialization', listen);
  try {
    return await start();
  } finally {
    unsubscribe('fastify.initialization', listen);
  }
};
