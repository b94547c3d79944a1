import { chmod, rename, rm, stat } from 'node:fs/promises';
import type { Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Where an agent listens: a unix socket (`mode` of its file, default 0600) or a TCP address (`host` default 127.0.0.1). */
export type Endpoint = { path: string; mode?: number } | { host?: string; port: number };

// sun_path has 108 bytes with its closing NUL; longer paths would be cut off and bind elsewhere.
const MAX_SOCKET_PATH = 107;

const BACKLOG_MS = 10;

const bind = (server: Server, where: { path: string } | { host: string; port: number }) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });

const closeServer = (server: Server) =>
  new Promise<void>((resolve) => {
    if (!server.listening) resolve();
    else server.close(() => resolve());
  });

/**
 * Prepares to listen. A unix socket is bound under a name of its own, given its mode and moved into place: a stale file
 * is no obstacle, and a new agent takes over from one that still runs without a moment in which connects fail.
 * `close` resolves when all connections are gone, and removes the file only if it is still this agent's.
 */
export const listenOn = (server: Server, endpoint: Endpoint): { listen(): Promise<void>; close(): Promise<void> } => {
  if (!('path' in endpoint)) {
    const { host = '127.0.0.1', port } = endpoint;
    return { listen: () => bind(server, { host, port }), close: () => closeServer(server) };
  }

  const { path, mode = 0o600 } = endpoint;
  const provisional = `${path}.${process.pid}`;
  let inode: bigint | null = null;
  return {
    async listen() {
      if (Buffer.byteLength(provisional) > MAX_SOCKET_PATH) {
        throw new RangeError(`socket path is too long (${MAX_SOCKET_PATH} bytes with a process id): ${path}`);
      }
      await rm(provisional, { force: true });
      await bind(server, { path: provisional });
      await chmod(provisional, mode);
      inode = (await stat(provisional, { bigint: true })).ino;
      await rename(provisional, path);
    },
    async close() {
      const current = await stat(path, { bigint: true }).catch(() => null);
      if (current !== null && current.ino === inode) await rm(path, { force: true });
      // Nobody can connect any more; who did before this moment waits in the backlog, and is accepted in the next turns.
      await delay(BACKLOG_MS);
      await closeServer(server);
    },
  };
};
