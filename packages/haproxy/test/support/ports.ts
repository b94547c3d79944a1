import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [firstPort, lastPort] = [22_050, 22_399];
const reservations = join(tmpdir(), 'sp-test-ports');
let next = firstPort + Math.floor(Math.random() * (lastPort - firstPort));

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Takes the port for this process, unless another one that still runs has it: several test runs share the machine. */
const reserve = (port: number): boolean => {
  const path = join(reservations, String(port));
  mkdirSync(reservations, { recursive: true });
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
  } catch {
    if (isAlive(Number(readFileSync(path, 'utf8')))) return false;
    writeFileSync(path, String(process.pid));
  }
  process.once('exit', () => rmSync(path, { force: true }));
  return true;
};

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** A loopback port that nobody listens on and no other test gets. */
export const freePort = async (): Promise<number> => {
  for (let attempt = firstPort; attempt <= lastPort; attempt++) {
    const port = next++;
    if (next > lastPort) next = firstPort;
    if (reserve(port) && (await isFree(port))) return port;
  }
  throw new Error('no free port in the range');
};
