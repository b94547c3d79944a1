import websocket from '@fastify/websocket';
import type { App } from './app-type.ts';

/** Clients have nothing to say; what is longer than this is refused. */
const MAX_MESSAGE_BYTES = 1_024;
/** Close code "going away" (RFC 6455, section 7.4.1). */
const GOING_AWAY = 1001;
/** How long clients may take to answer a close; one that does not read must not hold up the stop. */
const CLOSE_MS = 500;

/** Lets routes take WebSocket upgrades, and ends the connections with the service. */
export const registerWebSocket = async (app: App): Promise<void> => {
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
};
