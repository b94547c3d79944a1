import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { freePort } from '../free-ports.ts';

/** What an echo origin saw. */
export type Echo = { origin: string; method: string; url: string; headers: IncomingHttpHeaders; bodyBytes: number };

export type Origin = { name: string; port: number; stop(): Promise<void> };

const stopServer = (server: Server & { closeAllConnections?(): void }) => async (): Promise<void> => {
  server.closeAllConnections?.();
  await new Promise((resolve) => server.close(resolve));
};

/** Starts `server` on a free port of `address`. */
export const listen = async (
  server: Server,
  address = '127.0.0.1',
): Promise<{ port: number; stop(): Promise<void> }> => {
  const port = await freePort();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  return { port: (server.address() as AddressInfo).port, stop: stopServer(server) };
};

/** An HTTP/1.1 origin with the given handler. */
export const startOrigin = async (
  name: string,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  address?: string,
): Promise<Origin> => ({ name, ...(await listen(createServer(handler), address)) });

/** Answers with what it saw, in JSON. */
export const startEchoOrigin = (name: string, address?: string): Promise<Origin> =>
  startOrigin(
    name,
    async (request, response) => {
      let bodyBytes = 0;
      for await (const chunk of request) bodyBytes += (chunk as Buffer).length;
      const { method = '', url = '', headers } = request;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ origin: name, method, url, headers, bodyBytes } satisfies Echo));
    },
    address,
  );
