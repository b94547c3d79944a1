import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { refuse } from '@sallyport/store/errors';
import type { FastifyInstance } from 'fastify';

// Not an import, which would load a second HTTP client (docs/decisions/0009-memory-at-rest.md).
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** What Node's HTTP parser says when it gives up on a request, and what we say then. */
const REFUSALS: Readonly<Record<string, { status: number; error: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, error: 'The request line and headers are too long' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, error: 'The request was not complete in time' },
};
const MALFORMED = { status: 400, error: 'The request is not valid HTTP' };

/** Writes a refusal in the form of every other one where there is no response to write to, and closes the connection. */
export const refuseOnSocket = (socket: Socket, status: number, error: string): void => {
  const body = JSON.stringify({ error, code: status });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
};

/** Answers what could not be read as a request. */
export const answerUnreadable = (fault: NodeJS.ErrnoException, socket: Socket): void => {
  if (fault.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(fault);
    return;
  }
  const { status, error } = REFUSALS[fault.code ?? ''] ?? MALFORMED;
  refuseOnSocket(socket, status, error);
};

/** Answers what Node itself would refuse without a word: no `Host` (RFC 9112, section 3.2), an `Expect` that nobody knows. */
export const registerRequestChecks = (app: FastifyInstance): void => {
  app.addHook('onRequest', async ({ raw: { httpVersion, headers } }) => {
    if (httpVersion === '1.1' && headers.host === undefined) throw refuse.invalid('Host is required');
  });
  app.server.on('checkExpectation', ({ socket }: IncomingMessage) => {
    refuseOnSocket(socket, 417, 'Expect takes nothing but 100-continue');
  });
};
