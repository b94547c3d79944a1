import { createServer } from 'node:net';

// Below the ports that the kernel gives to outgoing connections: one of those could take a port that was just found free.
const [firstPort, lastPort] = [22_050, 25_999];
let next = firstPort + Math.floor(Math.random() * (lastPort - firstPort));

/**
 * Takes the port for this process, unless another one has it: test files and runs share the machine, and two HAProxies would share
 * a port without a word. The kernel holds the name (abstract, unix(7)), and gives it back when the process ends, however that is.
 */
export const reserve = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const name = createServer();
    name.once('error', () => resolve(false));
    name.listen(`\0sallyport-test-port-${port}`, () => {
      name.unref();
      resolve(true);
    });
  });

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    // On every address: some of what is tested listens on all of them.
    server.listen({ port, exclusive: true }, () => server.close(() => resolve(true)));
  });

/** A port that nobody listens on, and that no other test gets while this process lives. */
export const freePort = async (): Promise<number> => {
  for (let port = firstPort; port <= lastPort; port++) {
    const candidate = next++;
    if (next > lastPort) next = firstPort;
    if ((await reserve(candidate)) && (await isFree(candidate))) return candidate;
  }
  throw new Error('no free port in the range');
};

/** Several of them. */
export const freePorts = async (count: number): Promise<number[]> => {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
};
