import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A service behind the proxy. */
export interface Origin {
  name: string;
  port: number;
  stop(): Promise<void>;
}

/** Answers every request with its name, on any free port when it is 0; `/stream` sends the name again and again until the client goes away. */
export const startOrigin = async (name: string, port: number): Promise<Origin> => {
  const server = createServer(async (request, response) => {
    if (request.url !== '/stream') {
      response.end(name);
      return;
    }
    while (!response.closed) {
      response.write(`${name}\n`);
      await sleep(20);
    }
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    name,
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
};
