import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';

export interface LogIntakeDeps {
  path: string;
  /** Mode of the socket, for who else may write; default 0600. */
  mode?: number;
  /** Takes one line; must not throw. */
  onLine: (line: string) => void;
  /** Told of every line that was too long to be read. */
  onInvalid: () => void;
}

const MAX_LINE_BYTES = 256 * 1024;
const MAX_CONNECTIONS = 256;
const NEWLINE = 0x0a;

/** Cuts a stream into lines; a connection whose line does not end is ended. */
const readLines = (socket: Socket, onLine: (line: string) => void, onInvalid: () => void): void => {
  let rest: Buffer[] = [];
  let restBytes = 0;
  socket.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      const line = Buffer.concat([...rest, chunk.subarray(from, end)]).toString('utf8');
      rest = [];
      restBytes = 0;
      from = end + 1;
      if (line !== '') onLine(line);
    }
    if (from === chunk.length) return;
    rest.push(chunk.subarray(from));
    restBytes += chunk.length - from;
    if (restBytes > MAX_LINE_BYTES) {
      onInvalid();
      socket.destroy();
    }
  });
  // A guard that is killed in the middle of a line has nothing more to say.
  socket.on('error', () => socket.destroy());
};

/** Listens on a unix socket that only this user (and whom `mode` lets in) can open: whoever writes there is ours. */
export const startLogIntake = async ({
  path,
  mode = 0o600,
  onLine,
  onInvalid,
}: LogIntakeDeps): Promise<{ stop(): Promise<void> }> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    readLines(socket, onLine, onInvalid);
  });
  server.maxConnections = MAX_CONNECTIONS;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Left over from a process that was killed; two servers on one data directory are prevented elsewhere.
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  chmodSync(path, mode);
  return {
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
};
