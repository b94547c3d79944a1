import { connect, type Socket } from 'node:net';

/** Lines and bytes that may wait for the server; what comes on top is dropped and counted. */
const MAX_LINES = 4_000;
const MAX_BYTES = 4 * 1024 * 1024;
const MAX_IN_SOCKET = 256 * 1024;
const RETRY_MS = 250;

export interface LogClientDeps {
  path: string;
  onDropped: () => void;
  /** Called after each connect, before what waits is sent. */
  onConnected: () => void;
}

/** Sends lines to the server when it is there, and holds a bounded number of them while it is not. Never waits. */
export const createLogClient = ({ path, onDropped, onConnected }: LogClientDeps) => {
  const waiting: string[] = [];
  let waitingBytes = 0;
  let socket: Socket | undefined;
  let isReady = false;
  let isStopped = false;
  let retry: NodeJS.Timeout | undefined;

  const flush = (): void => {
    while (socket && isReady && waiting.length > 0 && socket.writableLength < MAX_IN_SOCKET) {
      const batch = waiting.splice(0, 256);
      for (const line of batch) waitingBytes -= line.length;
      socket.write(`${batch.join('\n')}\n`);
    }
  };

  const open = (): void => {
    if (isStopped) return;
    socket = connect(path, () => {
      isReady = true;
      onConnected();
      flush();
    });
    socket.on('drain', flush);
    socket.on('error', () => socket?.destroy());
    socket.on('close', () => {
      isReady = false;
      socket = undefined;
      if (!isStopped) retry = setTimeout(open, RETRY_MS);
    });
    // Nothing is expected; without a reader the end of the connection would not be seen.
    socket.resume();
  };
  open();

  return {
    send(line: string): void {
      if (waiting.length >= MAX_LINES || waitingBytes + line.length > MAX_BYTES) {
        onDropped();
        return;
      }
      waiting.push(line);
      waitingBytes += line.length;
      flush();
    },

    isConnected: (): boolean => isReady,

    /** Sends what waits, if the server takes it at once, and ends. */
    stop(): Promise<void> {
      isStopped = true;
      clearTimeout(retry);
      return new Promise((resolve) => {
        if (!socket) return resolve();
        const timer = setTimeout(() => socket?.destroy(), 500);
        socket.once('close', () => {
          clearTimeout(timer);
          resolve();
        });
        flush();
        socket.end();
      });
    },
  };
};
