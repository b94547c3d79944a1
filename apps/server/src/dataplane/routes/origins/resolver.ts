import { isIP } from 'node:net';
import type { OriginAddressStore } from './store.ts';

/** Where an origin is, or why that is not known. */
export type Resolution = { address: string } | { issue: string };

/** Looks a name up the way the system does (/etc/hosts, then DNS); rejects when there is no address. */
export type Lookup = (name: string) => Promise<string[]>;

export interface OriginResolverDeps {
  store: OriginAddressStore;
  lookup: Lookup;
  clock: () => Date;
  /** How long a caller waits for a name that was never looked up. */
  timeoutMs: number;
}

export interface OriginResolver {
  /** Loads the last good addresses; call once before anything else. */
  load(): Promise<void>;
  /** Looks up what was never looked up, each name within the time limit; never rejects. */
  ensure(hosts: Iterable<string>): Promise<void>;
  /** What is known of a host now, without waiting. */
  known(host: string): Resolution;
  /** Looks all these names up again, a few at a time; returns those whose address changed. Others are forgotten in time. */
  refresh(hosts: Iterable<string>): Promise<Set<string>>;
}

/** Look-ups share Node's few threads with file access, so they must not take them all. */
const CONCURRENT_LOOKUPS = 2;

const reasonOf = (error: unknown): string => {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOTFOUND') return 'does not resolve';
  if (code === 'EAI_AGAIN') return 'could not be resolved: the name server did not answer';
  return `could not be resolved (${code ?? (error as Error).message})`;
};

/** Resolves origin names and keeps the last good address of each: a name that stops resolving changes nothing. */
export const createOriginResolver = ({ store, lookup, clock, timeoutMs }: OriginResolverDeps): OriginResolver => {
  const addresses = new Map<string, string>();
  const issues = new Map<string, string>();
  const underway = new Map<string, Promise<boolean>>();
  /** Names whose address is not stored yet: tried again with every refresh. */
  const unsaved = new Set<string>();
  let saving: Promise<void> = Promise.resolve();
  /** Names that the last refresh found nobody to use. */
  let unused = new Set<string>();

  const save = async (name: string): Promise<void> => {
    const address = addresses.get(name);
    try {
      if (address !== undefined) await store.save(name, address, clock());
      if (addresses.get(name) === address) unsaved.delete(name);
    } catch {
      // The address counts all the same. It is stored for a start without DNS, and the next refresh is soon enough.
    }
  };

  const saveAll = (): Promise<void> => {
    saving = saving.then(async () => {
      for (const name of [...unsaved]) await save(name);
    });
    return saving;
  };

  /** Resolves to whether the address changed. The store is not waited for: without it the address has changed as well. */
  const lookUp = async (name: string): Promise<boolean> => {
    try {
      const found = await lookup(name);
      const current = addresses.get(name);
      issues.delete(name);
      // Names with several addresses come in changing order; the one in use stays while it is among them.
      if (current !== undefined && found.includes(current)) return false;
      const [address] = found;
      if (address === undefined) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' });
      addresses.set(name, address);
      unsaved.add(name);
      void saveAll();
      return true;
    } catch (error) {
      if (!addresses.has(name)) issues.set(name, `forward_host ${name} ${reasonOf(error)}`);
      return false;
    }
  };

  const lookUpOnce = (name: string): Promise<boolean> => {
    const running = underway.get(name) ?? lookUp(name).finally(() => underway.delete(name));
    underway.set(name, running);
    return running;
  };

  const namesOf = (hosts: Iterable<string>) => [...new Set(hosts)].filter((host) => isIP(host) === 0);

  return {
    async load() {
      for (const [name, address] of await store.all()) addresses.set(name, address);
    },

    async ensure(hosts) {
      const unknown = namesOf(hosts).filter((name) => !addresses.has(name));
      await Promise.all(
        unknown.map(async (name) => {
          const { promise: timedOut, resolve } = Promise.withResolvers<void>();
          const timer = setTimeout(resolve, timeoutMs);
          await Promise.race([lookUpOnce(name).then(() => saving), timedOut]);
          clearTimeout(timer);
        }),
      );
    },

    known(host) {
      if (isIP(host) !== 0) return { address: host };
      const address = addresses.get(host);
      if (address !== undefined) return { address };
      return { issue: issues.get(host) ?? `forward_host ${host} could not be resolved in time` };
    },

    async refresh(hosts) {
      const names = namesOf(hosts);
      const inUse = new Set(names);
      for (const name of issues.keys()) if (!inUse.has(name)) issues.delete(name);
      // Not at once: one that was just looked up may be about to be used.
      const idle = [...addresses.keys()].filter((name) => !inUse.has(name));
      for (const name of idle) if (unused.has(name)) addresses.delete(name);
      unused = new Set(idle);
      if (unsaved.size > 0) void saveAll();
      const changed = new Set<string>();
      const next = names.values();
      const work = async () => {
        for (const name of next) if (await lookUpOnce(name)) changed.add(name);
      };
      await Promise.all(Array.from({ length: CONCURRENT_LOOKUPS }, work));
      return changed;
    },
  };
};
