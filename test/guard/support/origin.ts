import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { freePort } from '../../support/free-ports.ts';

/** One request as it reached the origin. */
export interface Arrival {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  trailers: IncomingMessage['trailers'];
}

export interface TestOrigin {
  port: number;
  /** Everything that reached it, in order. */
  arrivals: Arrival[];
  stop(): Promise<void>;
}

/** An origin that remembers what reached it and answers with it, body apart. */
export const startOrigin = async (): Promise<TestOrigin> => {
  const arrivals: Arrival[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const { method = '', url = '', headers } = request;
    arrivals.push({ method, url, headers, body: Buffer.concat(chunks), trailers: request.trailers });
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ method, url, headers, bodyBytes: Buffer.concat(chunks).length }));
  });
  server.on('upgrade', (request, socket) => {
    arrivals.push({
      method: 'UPGRADE',
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.alloc(0),
      trailers: {},
    });
    socket.end(
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
    );
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port,
    arrivals,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
