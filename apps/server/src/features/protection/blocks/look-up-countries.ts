import { setTimeout as sleep } from 'node:timers/promises';
import type { Executor } from '@sallyport/store/database/open';
import type { Logger } from 'pino';
import type { BlockStore } from './store.ts';

export interface LookUpDeps {
  db: Executor;
  store: (executor: Executor) => Pick<BlockStore, 'withoutCountry' | 'setCountries'>;
  /** See `createCountryOf`. */
  countryOf: (ip: string) => string;
  log: Logger;
}

const ENTRIES_A_PORTION = 200;
/** It rests for so many times as long as a portion took: nobody waits for it. */
const RESTS = 5;

/**
 * Looks up the countries of entries that were kept while no country database could be read, or by an earlier version. Returns whether
 * none is left.
 */
export const lookUpCountries = async (
  { db, store, countryOf, log }: LookUpDeps,
  signal: AbortSignal,
): Promise<boolean> => {
  try {
    while (!signal.aborted) {
      const started = performance.now();
      const entries = await store(db).withoutCountry(ENTRIES_A_PORTION);
      if (entries.length === 0) return true;
      const countries = new Map(entries.map(({ ip }) => [ip, countryOf(ip)]));
      await store(db).setCountries(
        entries.map(({ id }) => id),
        countries,
      );
      await sleep(RESTS * (performance.now() - started), undefined, { signal, ref: false });
    }
  } catch (err) {
    if (!signal.aborted) log.warn({ err }, 'countries of refused requests can not be looked up');
  }
  return false;
};
