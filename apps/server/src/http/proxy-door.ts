import { chmodSync, rmSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';

const fromProxy = new WeakSet<Socket>();

/** Tells whether a connection came in by the proxy's door: then our own data plane has written `X-Real-IP`. */
export const isFromProxy = (socket: Socket): boolean => fromProxy.has(socket);

interface ProxyDoorOptions {
  server: HttpServer;
  /** Absolute path of a unix socket, in a directory that nobody but us and our HAProxy can enter. */
  path: string;
  mode: number;
}

/**
 * Opens the door by which our own data plane brings what was asked of a host that forwards to this very API. On TCP any process of
 * this machine could claim to be the data plane and choose the address that the audit log and the limits see; here the file
 * system says who may come. Rejects when the path cannot be listened on.
 */
export const openProxyDoor = async ({ server, path, mode }: ProxyDoorOptions): Promise<{ stop(): Promise<void> }> => {
  const door = createServer((socket) => {
    fromProxy.add(socket);
    server.emit('connection', socket);
  });
  // Left behind by a process that was killed.
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    door.once('error', reject);
    door.listen(path, resolve);
  });
  chmodSync(path, mode);
  return {
    // What is open belongs to the server, which ends it.
    stop: async () => void door.close(),
  };
};
