import { Agent, request } from 'node:http';

/** What became of the requests sent at a fixed rate. `failed` were not answered at all. */
export interface PacedTally {
  clean: Map<number, number>;
  attack: Map<number, number>;
  failed: number;
}

const TICK_MS = 5;

/** The share of its rate that is sent while it is gentle. */
const GENTLE = 0.1;

/** As many are under way at most: what a machine that is too slow for the rate sends waits for answers, not in ever longer queues. */
const MOST_IN_FLIGHT = 512;

/**
 * Sends `perSecond` requests each second, whatever becomes of those before (an open loop, as visitors are), every fourth an attack:
 * a guard that ends finds no client that waits for it.
 */
export const startPacedTraffic = (port: number, perSecond: number) => {
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_IN_FLIGHT });
  const tally: PacedTally = { clean: new Map(), attack: new Map(), failed: 0 };
  const waiting = new Set<Promise<void>>();
  let at = performance.now();
  let owed = 0;
  let share = 1;
  let sent = 0;

  const one = (kind: 'clean' | 'attack', n: number): Promise<void> =>
    new Promise((resolve) => {
      const path = kind === 'attack' ? `/?n=${n}&q=attack` : `/?n=${n}`;
      const fail = (): void => {
        tally.failed++;
        resolve();
      };
      const outgoing = request(
        { host: '127.0.0.1', port, path, agent, headers: { host: 'guarded.test' } },
        (answer) => {
          const status = answer.statusCode ?? 0;
          answer
            .resume()
            .once('end', () => {
              tally[kind].set(status, (tally[kind].get(status) ?? 0) + 1);
              resolve();
            })
            .once('error', fail);
        },
      );
      outgoing.once('error', fail);
      outgoing.end();
    });

  const timer = setInterval(() => {
    const now = performance.now();
    owed += ((now - at) / 1000) * perSecond * share;
    at = now;
    for (; owed >= 1 && waiting.size < MOST_IN_FLIGHT; owed--) {
      const n = sent++;
      const asked = one(n % 4 === 0 ? 'attack' : 'clean', n);
      waiting.add(asked);
      void asked.then(() => waiting.delete(asked));
    }
    // What there was no room for is not made up for: a machine that is busy would never see the end of it.
    owed %= 1;
  }, TICK_MS);

  return {
    sent: (): number => sent,
    inFlight: (): number => waiting.size,
    /** Sends a tenth during `work`, which would else have no processor to itself, and thousands of requests be sent meanwhile. */
    async gently(work: () => Promise<void>): Promise<void> {
      share = GENTLE;
      await work();
      share = 1;
    },
    /** Sends nothing more and waits for all answers. */
    async stop(): Promise<PacedTally> {
      clearInterval(timer);
      await Promise.all(waiting);
      agent.destroy();
      return tally;
    },
  };
};
