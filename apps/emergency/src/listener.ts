import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Door } from '@sallyport/recovery/door';
import type { Reset } from '@sallyport/recovery/reset';
import type { Actor, ChangeEntry } from '@sallyport/store/actor';
import type { Logger } from 'pino';
import type { Places } from './places.ts';

export interface ListenerDeps {
  door: Door;
  reset: Reset;
  /** Writes an event to the audit trail; may reject. */
  note(entry: ChangeEntry): Promise<void>;
  /** Who may connect, and how often at once. */
  enter: Places;
  log: Logger;
}

const RESET_PATHS = ['/emergency/security-reset', '/api/v1/emergency/security-reset'];
const TIMEOUT_MS = 5_000;

const headerOf = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.join(',') : value;

const actorOf = (request: IncomingMessage): Actor => ({
  identity: { kind: 'anonymous' },
  ip: request.socket.remoteAddress ?? '',
  userAgent: request.headers['user-agent'] ?? '',
  method: request.method ?? '',
  path: request.url?.split('?', 1)[0] ?? '',
  isLocal: false,
});

const answer = (response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void => {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Nothing of a body was read.
    connection: 'close',
    ...headers,
  });
  response.end(JSON.stringify(body));
};

/** Builds the HTTP server of the second tier (spec, Emergency recovery). Nothing listens yet. */
export const createListener = ({ door, reset, note, enter, log }: ListenerDeps) => {
  const write = (entry: ChangeEntry): void => {
    note(entry).catch((error: Error) => log.warn({ reason: error.message }, 'the audit trail could not be written'));
  };

  const tryReset = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const actor = actorOf(request);
    const decision = door({
      address: actor.ip,
      token: headerOf(request.headers['x-emergency-token']),
      authorization: request.headers.authorization,
    });
    if (decision.isOpen) {
      log.warn({ ip: actor.ip, user_agent: actor.userAgent }, 'emergency reset');
      return answer(response, 200, await reset.run(actor));
    }
    const { status, error, reason, headers } = decision;
    if (reason !== undefined) {
      log.warn({ ip: actor.ip, user_agent: actor.userAgent, reason }, 'emergency reset refused');
      write({ action: 'emergency.refused', actor, resource: 'emergency', after: { reason, server: 'emergency' } });
    }
    answer(response, status, { error }, headers);
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url?.split('?', 1)[0] ?? '';
    const isReset = RESET_PATHS.includes(path);
    if (isReset && request.method === 'POST') return tryReset(request, response);
    if (path === '/health' && (request.method === 'GET' || request.method === 'HEAD')) {
      return answer(response, 200, { status: 'ok', server: 'emergency' });
    }
    if (!isReset && path !== '/health') return answer(response, 404, { error: 'Not found' });
    answer(response, 405, { error: 'Method not allowed' }, { allow: isReset ? 'POST' : 'GET, HEAD' });
  };

  const server = createServer(
    { headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS, keepAliveTimeout: 1, connectionsCheckingInterval: 1_000 },
    (request, response) => {
      handle(request, response).catch((error: unknown) => {
        log.error({ err: error }, 'the emergency server failed');
        if (response.headersSent) response.destroy();
        else answer(response, 500, { error: 'Internal error' });
      });
    },
  );
  server.on('connection', (socket) => {
    const place = enter(socket.remoteAddress ?? '');
    if (!place) return socket.destroy();
    return socket.once('close', () => place.leave());
  });
  return server;
};
