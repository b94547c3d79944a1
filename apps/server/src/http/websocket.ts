import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import websocket from '@fastify/websocket';
import { refuse } from '@sallyport/store/errors';
import type { App } from './app-type.ts';
import { refuseOnSocket } from './unreadable-request.ts';

/** Clients have nothing to say; what is longer than this is refused. */
const MAX_MESSAGE_BYTES = 1_024;
/** Close code "going away" (RFC 6455, section 7.4.1). */
const GOING_AWAY = 1001;
/** How long clients may take to answer a close; one that does not read must not hold up the stop. */
const CLOSE_MS = 500;

/**
 * Whether a request asks for the one upgrade there is here. Others are ignored (RFC 9110, section 7.8): some clients
 * offer HTTP/2 that way with every request.
 */
export const asksForWebSocket = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers.upgrade?.toLowerCase() === 'websocket';

/** Lets routes take WebSocket upgrades, and ends the connections with the service. */
export const registerWebSocket = async (app: App): Promise<void> => {
  const paths = new Set<string | undefined>();
  app.addHook('onRoute', ({ url, wsHandler }) => {
    if (wsHandler) paths.add(url);
  });
  await app.register(websocket, {
    options: { maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false },
    preClose(done) {
      const { websocketServer } = app;
      for (const client of websocketServer.clients) client.close(GOING_AWAY);
      const timer = setTimeout(() => {
        for (const client of websocketServer.clients) client.terminate();
      }, CLOSE_MS);
      websocketServer.close(() => {
        clearTimeout(timer);
        done();
      });
    },
  });
  app.addHook('onRequest', async (request) => {
    if (request.ws && !paths.has(request.routeOptions.url))
      throw refuse.invalid('This path takes no WebSocket upgrade');
  });
  app.websocketServer.on('wsClientError', (error: Error, socket: Socket) => refuseOnSocket(socket, 400, error.message));
};
