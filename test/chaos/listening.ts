import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const listenState = '0A';

/** How many sockets listen on a TCP port of this machine (proc(5), /proc/net/tcp). */
export const countListeners = (port: number): number => {
  const wanted = port.toString(16).toUpperCase().padStart(4, '0');
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((path) => readFileSync(path, 'utf8').trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(`:${wanted}`) && state === listenState).length;
};

/** Looks again and again until told to stop; returns the most listeners each port ever had at one moment. */
export const watchListeners = async (ports: readonly number[], signal: AbortSignal): Promise<Map<number, number>> => {
  const most = new Map(ports.map((port) => [port, 0]));
  while (!signal.aborted) {
    for (const port of ports) most.set(port, Math.max(most.get(port) ?? 0, countListeners(port)));
    await sleep(25);
  }
  return most;
};
