import { createServer } from 'node:net';

const firstPort = 22_050;
const portsPerWorker = 25;
const workers = 14;
let next = 0;

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** A loopback port that nobody listens on, from the part of the range that belongs to this test worker. */
export const freePort = async (): Promise<number> => {
  const worker = Number(process.env.VITEST_POOL_ID ?? 0) % workers;
  for (let attempt = 0; attempt < portsPerWorker * 2; attempt++) {
    const port = firstPort + worker * portsPerWorker + (next++ % portsPerWorker);
    if (await isFree(port)) return port;
  }
  throw new Error('no free port in the range');
};
