import { Refusal, refuse } from '@sallyport/store/errors';
import type { FastifyRequest } from 'fastify';

/** Reads a multipart form; throws a 400 or 413 for what is none, or too large. `read` throws its own refusals. */
export const readForm = async <T>(
  request: FastifyRequest,
  read: (request: FastifyRequest) => Promise<T>,
): Promise<T> => {
  if (!request.isMultipart()) throw refuse.invalid('Content-Type must be multipart/form-data');
  return read(request).catch((cause: Error & { statusCode?: number }) => {
    if (cause instanceof Refusal) throw cause;
    if (cause.statusCode === 413) throw refuse.tooLarge('The form has more parts than allowed', { cause });
    // No boundary, an end that never comes: the parser throws plain errors for what a caller sent.
    throw refuse.invalid('body must be a valid multipart form', { cause });
  });
};
