import { isIP } from 'node:net';
import type { HostRoute } from './source.ts';

type HostsByName = Map<string, Set<number>>;

/** Hosts whose origin is given by name, to find them again when its address changes. */
export const createNamesInUse = () => {
  let known: HostsByName = new Map();
  /** As the collecting under way finds it; until that is over, names that it has not come to are in use as well. */
  let collected: HostsByName | undefined;

  return {
    remember({ id, originHost }: HostRoute): void {
      if (isIP(originHost) !== 0) return;
      for (const byName of collected ? [known, collected] : [known]) {
        const ids = byName.get(originHost) ?? new Set();
        byName.set(originHost, ids.add(id));
      }
    },

    /** All hosts are gone through from now on. */
    begin(): void {
      collected = new Map();
    },

    /** They were: names that did not come up are in use no more. */
    finish(): void {
      known = collected ?? known;
    },

    /** No more is collected, whether or not it came to an end. */
    end(): void {
      collected = undefined;
    },

    names: (): string[] => [...known.keys()],
    hostsOf: (names: Iterable<string>): number[] => [
      ...new Set([...names].flatMap((name) => [...(known.get(name) ?? [])])),
    ],
  };
};
