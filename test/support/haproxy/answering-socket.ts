import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** What is at a unix socket in HAProxy's place. */
export type AnsweringSocket = {
  /** Commands in the order they came, without their line ends; those that hold a connection too. */
  readonly asked: string[];
  /** How many connections are open. */
  open(): number;
  /** Ends all connections, as a process that dies does. */
  hangUp(): void;
  /** Ends all connections, and listens no more. */
  stop(): Promise<void>;
};

/**
 * Answers commands at `path` as HAProxy's admin socket does: one a connection, which then ends, but that `prompt` keeps it open. Without an
 * answer it stays open, and silent.
 */
export const answerAt = async (
  path: string,
  answer: (command: string) => string | undefined,
): Promise<AnsweringSocket> => {
  const sockets = new Set<Socket>();
  const asked: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      const command = String(bytes).trimEnd();
      asked.push(command);
      const text = command === 'prompt' ? '\n> ' : answer(command);
      if (text === undefined) return;
      if (command === 'prompt') socket.write(text);
      else socket.end(text);
    });
  });
  await once(server.listen(path), 'listening');
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    asked,
    open: () => sockets.size,
    hangUp,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      hangUp();
      await closed;
    },
  };
};

/** What a process with this pid says of itself. */
export const processInfo = (pid: number, uptimeSec = 0): string =>
  `Name: HAProxy\nVersion: 2.6.12\nPid: ${pid}\nUptime_sec: ${uptimeSec}\n\n`;
