/** Something to be done for a client, and how much of it there is. */
export interface Job {
  client: string;
  bytes: number;
}

/** What a client has used is half forgotten after this. */
const HALF_LIFE_MS = 10_000;
const FORGOTTEN_MS = 1;

/** Jobs in turn, so that who has used least of the judges' time comes first, and nobody's many jobs hold up another's one. */
export const createFairQueue = <J extends Job>(now: () => number) => {
  const waiting = new Map<string, J[]>();
  const used = new Map<string, { ms: number; at: number }>();

  const usedBy = (client: string): number => {
    const entry = used.get(client);
    return entry ? entry.ms * 0.5 ** ((now() - entry.at) / HALF_LIFE_MS) : 0;
  };

  return {
    add(job: J): void {
      const own = waiting.get(job.client);
      if (own) own.push(job);
      else waiting.set(job.client, [job]);
    },

    /** The next job that `fits`; a client's jobs keep their order. */
    take(fits: (job: J) => boolean): J | undefined {
      let found: J[] | undefined;
      let least = Number.POSITIVE_INFINITY;
      for (const [client, own] of waiting) {
        if (!own[0] || !fits(own[0]) || usedBy(client) >= least) continue;
        found = own;
        least = usedBy(client);
      }
      const job = found?.shift();
      if (job && found?.length === 0) waiting.delete(job.client);
      return job;
    },

    remove(job: J): void {
      const own = waiting.get(job.client)?.filter((other) => other !== job);
      if (own?.length) waiting.set(job.client, own);
      else waiting.delete(job.client);
    },

    /** A client's job has taken so long. */
    charge(client: string, milliseconds: number): void {
      used.set(client, { ms: usedBy(client) + milliseconds, at: now() });
      for (const other of used.keys()) if (usedBy(other) < FORGOTTEN_MS) used.delete(other);
    },

    waitingOf: (client: string): number => waiting.get(client)?.length ?? 0,
    isEmpty: (): boolean => waiting.size === 0,
    all: (): J[] => [...waiting.values()].flat(),
  };
};
