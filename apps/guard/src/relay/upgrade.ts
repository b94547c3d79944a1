import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FlatHeaders } from '../headers.ts';

// Not an import, which would load a second HTTP client (docs/decisions/0009-memory-at-rest.md).
const http = process.getBuiltinModule('node:http');

/** Answers a request that asks for another protocol as if it had not: Node gives its bare connection only. */
export const responseFor = (incoming: IncomingMessage, socket: Duplex): ServerResponse => {
  const response = new http.ServerResponse(incoming);
  // What follows a refused handshake is no request, and nobody reads it.
  response.shouldKeepAlive = false;
  response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0]);
  response.once('finish', () => socket.end());
  return response;
};

export interface Switch {
  socket: Duplex;
  response: ServerResponse;
  upstream: IncomingMessage;
  switched: Duplex;
  /** Of the origin's answer, without those of its connection. */
  headers: FlatHeaders;
}

/** Passes on that the protocol has changed, and then whatever either side says, until one of them ends. */
export const switchProtocols = async ({ socket, response, upstream, switched, headers }: Switch): Promise<void> => {
  response.detachSocket(socket as Parameters<ServerResponse['detachSocket']>[0]);
  const lines = [`HTTP/1.1 101 ${upstream.statusMessage ?? ''}`, 'Connection: Upgrade', 'Upgrade: websocket'];
  for (let i = 0; i + 1 < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  await Promise.all([pipeline(socket, switched), pipeline(switched, socket)]).catch(() => {
    socket.destroy();
    switched.destroy();
  });
};
