import { createServer } from 'node:net';

const [FIRST, LAST] = [27_000, 27_499];
let next = FIRST + (process.pid % 400);

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** A loopback port that nobody listens on. */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt <= LAST - FIRST; attempt++) {
    const port = next;
    next = next === LAST ? FIRST : next + 1;
    if (await isFree(port)) return port;
  }
  throw new Error('no free port in the range');
};
