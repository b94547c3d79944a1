import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// Below the ports that the kernel gives to outgoing connections: one of those could take a port that was just found free.
const [firstPort, lastPort] = [22_050, 25_999];
const reservations = join(tmpdir(), `sallyport-test-ports-${process.getuid?.()}`);
let next = firstPort + Math.floor(Math.random() * (lastPort - firstPort));

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const taken = new Set<string>();
process.once('exit', () => {
  for (const path of taken) rmSync(path, { force: true });
});

/** Takes the port for this process, unless another one that still runs has it: test files and runs share the machine. */
const reserve = (port: number): boolean => {
  const path = join(reservations, String(port));
  mkdirSync(reservations, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
  } catch {
    try {
      // Left by one that was killed: the port is free for whoever comes by next.
      if (!isAlive(Number(readFileSync(path, 'utf8')))) rmSync(path, { force: true });
    } catch {
      // Its owner has just given it back.
    }
    return false;
  }
  taken.add(path);
  return true;
};

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
    if (reserve(candidate) && (await isFree(candidate))) return candidate;
  }
  throw new Error('no free port in the range');
};

/** Several of them. */
export const freePorts = async (count: number): Promise<number[]> => {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
};
