import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** Statuses by how often they came, of harmless requests and of attacks. */
export interface Tally {
  clean: Map<number, number>;
  attack: Map<number, number>;
}

/** Between two requests of a client while it is gentle, milliseconds. */
const GENTLE_PAUSE_MS = 20;

/** Keeps asking on kept connections, every fourth time with an attack, until stopped. */
export const startTraffic = (port: number, clients: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const statuses: Tally = { clean: new Map(), attack: new Map() };
  let isStopped = false;
  let isGentle = false;
  let sent = 0;
  const one = (kind: keyof Tally, n: number): Promise<void> =>
    new Promise((resolve) => {
      const path = kind === 'attack' ? `/?n=${n}&q=attack` : `/?n=${n}`;
      const outgoing = request(
        { host: '127.0.0.1', port, path, agent, headers: { host: 'guarded.test' } },
        (response) => {
          const status = response.statusCode ?? 0;
          statuses[kind].set(status, (statuses[kind].get(status) ?? 0) + 1);
          response
            .resume()
            .once('end', resolve)
            .once('error', () => resolve());
        },
      );
      outgoing.once('error', () => resolve());
      outgoing.end();
    });
  const client = async (): Promise<void> => {
    while (!isStopped) {
      const n = sent++;
      await one(n % 4 === 0 ? 'attack' : 'clean', n);
      if (isGentle) await sleep(GENTLE_PAUSE_MS);
    }
  };
  const running = Array.from({ length: clients }, client);
  return {
    sent: (): number => sent,
    /** Asks less during `work`, which would else have no processor to itself, and thousands of requests be sent meanwhile. */
    async gently(work: () => Promise<void>): Promise<void> {
      isGentle = true;
      await work();
      isGentle = false;
    },
    async stop(): Promise<Tally> {
      isStopped = true;
      await Promise.all(running);
      agent.destroy();
      return statuses;
    },
  };
};
