import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSocketServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What the real ones answered to GET /containers/json, byte for byte, each with four containers: web, plain, onhost, alone. */
const RECORDED = { docker: 'docker-20.10.24', podman: 'podman-4.3.1' } as const;

/** Says over a Unix socket what Docker or Podman was recorded to say: starting those takes root, and longer than all tests of this. */
export const recorded = (who: keyof typeof RECORDED): RequestListener => {
  const body = readFileSync(join(import.meta.dirname, 'recorded', `${RECORDED[who]}.json`));
  return ({ method, url }, response) => {
    const isKnown = method === 'GET' && url === '/containers/json';
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
    response.end(isKnown ? body : '{"message":"page not found"}');
  };
};

const listenAt = async (server: Server) => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  const path = join(directory, 'docker.sock');
  const connections = new Set<Socket>();
  let accepted = 0;
  server.on('connection', (connection: Socket) => {
    accepted += 1;
    connections.add(connection);
    connection.on('error', () => {});
    connection.once('close', () => connections.delete(connection));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    path,
    /** Connections since it was started. */
    accepted: () => accepted,
    /** Connections that are open. */
    open: () => connections.size,
    async stop() {
      for (const connection of connections) connection.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
export type TestSocket = Awaited<ReturnType<typeof listenAt>>;

/** Listens at a Unix socket like the service of Docker. */
export const startDocker = (answer: RequestListener): Promise<TestSocket> => listenAt(createServer(answer));

/** Listens at a Unix socket and speaks as `talk` does. */
export const startSocket = (talk: (connection: Socket) => void): Promise<TestSocket> =>
  listenAt(
    createSocketServer((connection) => {
      talk(connection);
      // Who does not read does not see that the other one has gone.
      connection.resume();
    }),
  );
