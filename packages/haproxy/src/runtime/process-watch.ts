import { createConnection } from 'node:net';

/**
 * Holds one idle connection to HAProxy's admin socket and calls `onGone` as soon as it ends: when the process dies,
 * is replaced, or drops idle connections. Resolves once connected; rejects when nobody listens.
 */
export const watchProcess = (path: string, onGone: () => void): Promise<{ stop(): void }> =>
  new Promise((resolve, reject) => {
    const socket = createConnection({ path });
    let isStopped = false;
    socket.on('error', reject);
    socket.on('connect', () => {
      // Interactive mode keeps the connection open; without it HAProxy closes after the first answer.
      socket.write('prompt\n');
      socket.resume();
      resolve({
        stop() {
          isStopped = true;
          socket.destroy();
        },
      });
    });
    socket.on('close', () => {
      if (!isStopped) onGone();
    });
  });
