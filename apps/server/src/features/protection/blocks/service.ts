import type { CountryLookup } from '@sallyport/access';
import { formatNetwork, InvalidNetwork, parseNetwork } from '@sallyport/access';
import type { Block, BlockQuery, BlockStatistics, BlockStatisticsQuery, BlockSummary } from '@sallyport/contract';
import type { Page } from '@sallyport/store/database/listing';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { Logger } from 'pino';
import type { SecurityEvent } from '../logs/security-event.ts';
import { createCountryOf, NOT_LOOKED_UP } from './country-of.ts';
import { lookUpCountries } from './look-up-countries.ts';
import { type BlockStatisticsDeps, createBlockStatistics } from './statistics.ts';
import type { BlockStore, StoredBlock } from './store.ts';
import { suggestExclusions } from './suggest-exclusions.ts';

export interface BlockDeps extends Pick<BlockStatisticsDeps, 'counts' | 'clock'> {
  db: Executor;
  store: (executor: Executor) => BlockStore;
  /** Undefined while no country database is installed. */
  country: CountryLookup | undefined;
  /** Other processes keep entries as well, perhaps ones of an earlier version. */
  isShared: boolean;
  /** How many are kept; 0: none. */
  limit: () => Promise<number>;
  log: Logger;
}

/** Entries wait this long to be written together: an attack must not become as many transactions. */
const FLUSH_MS = 200;
const MAX_WAITING = 2_000;
const ROWS_A_PORTION = 200;
/**
 * Of one client at most so many are written together. Who is banned or over the limit and goes on asking would push out
 * what others need explained; of what the client asks for otherwise, more is worth knowing.
 */
const MAX_OF_CLIENT = { shutOut: 10, judged: 100 } as const;

const kindOf = ({ layer }: SecurityEvent): keyof typeof MAX_OF_CLIENT =>
  layer === 'decision' || layer === 'rate_limit' ? 'shutOut' : 'judged';

/** The address of a query as entries have it. */
const parseAddress = (text: string): string => {
  try {
    const address = formatNetwork(parseNetwork(text));
    if (address.includes('/')) throw refuse.invalid('ip must be an IP address, not a range');
    return address;
  } catch (error) {
    if (error instanceof InvalidNetwork) throw refuse.invalid(`ip ${error.message}`);
    throw error;
  }
};

/** Keeps what refused which request, so that a reference on a page can be explained. */
export const createBlocks = (deps: BlockDeps) => {
  const { db, store, isShared, counts, limit, country, clock, log } = deps;
  const countryOf = createCountryOf(country);
  const stopping = new AbortController();
  let waiting: SecurityEvent[] = [];
  /** How many wait, by kind and client. */
  const waitingOf = new Map<string, number>();
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  /** Countries that could not be looked up are missing. */
  let lacksCountries = false;
  let completing: Promise<void> = Promise.resolve();

  const completeCountries = async (): Promise<void> => {
    if (country && !(await lookUpCountries({ db, store, countryOf, log }, stopping.signal))) lacksCountries = true;
  };

  /** While nodes are brought up to date one after the other, old ones keep entries whose columns they do not know. */
  const tellUntold = async (): Promise<void> => {
    for (;;) {
      const rows = isShared ? await store(db).untold(ROWS_A_PORTION) : [];
      if (rows.length === 0) return;
      await store(db).tell(rows);
      // The next entry that is written has them completed.
      lacksCountries = true;
    }
  };

  const statistics = createBlockStatistics({
    ...{ db, store, tellUntold, counts, limit, clock, log },
    countryOf: country && countryOf,
  });

  /** A country database that can't be read must not lose what was refused. */
  const countryIfKnown = (ip: string): string => {
    try {
      return countryOf(ip);
    } catch {
      lacksCountries = true;
      return NOT_LOOKED_UP;
    }
  };

  const write = async (): Promise<void> => {
    const events = waiting;
    waiting = [];
    waitingOf.clear();
    const keep = await limit();
    if (keep > 0 && events.length > 0) {
      const lacked = lacksCountries;
      lacksCountries = false;
      await store(db).insert(events, countryIfKnown);
      // It can be read again.
      if (lacked && !lacksCountries) completing = completing.then(completeCountries);
    }
    await store(db).trim(keep);
  };

  /** Writes what waits and trims; one pass at a time. */
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.catch(() => {}).then(write);
    return writing;
  };

  return {
    /** Takes an entry in without waiting; one too many at once, of all or of one client, is dropped and counted. */
    record(event: SecurityEvent): void {
      const kind = kindOf(event);
      const client = `${kind} ${event.ip}`;
      const count = waitingOf.get(client) ?? 0;
      if (waiting.length >= MAX_WAITING || count >= MAX_OF_CLIENT[kind]) {
        dropped += 1;
        return;
      }
      waitingOf.set(client, count + 1);
      waiting.push(event);
      timer ??= setTimeout(() => {
        flush().catch((err: unknown) => log.error({ err }, 'blocked requests could not be kept'));
      }, FLUSH_MS).unref();
    },

    /** What was refused, newest first, without what only the look-up of one tells. */
    async list({ ip, ...query }: BlockQuery): Promise<Page<BlockSummary>> {
      const address = ip === undefined ? {} : { ip: parseAddress(ip) };
      await flush();
      const found = await store(db).list({ ...query, ...address });
      const summary = ({ event: { host_id, matches, ...event }, hostUuid }: StoredBlock): BlockSummary => ({
        ...event,
        host_uuid: hostUuid,
      });
      return { ...found, rows: found.rows.map(summary) };
    },

    /** Counts what was refused in a time, of all that is kept. Throws a 400 for a time that is none. */
    async summary(query: BlockStatisticsQuery): Promise<BlockStatistics> {
      await flush();
      return statistics(query);
    },

    /** Explains a reference. Throws a 404 for one that is not kept (any more). */
    async find(reference: string): Promise<Block> {
      await flush();
      const found = await store(db).find(reference);
      if (!found) throw refuse.notFound('No blocked request has this reference');
      const { host_id, ...event } = found.event;
      return { ...event, host_uuid: found.hostUuid, exclusions: suggestExclusions(found.event, found.hostUuid) };
    },

    /** Whether any are kept at all. */
    areKept: async (): Promise<boolean> => (await limit()) > 0,

    /** See `Kept` of the log. */
    async since(): Promise<number> {
      const oldest = await store(db).oldestOf(await limit());
      return oldest ? Date.parse(oldest.timestamp) : Number.NEGATIVE_INFINITY;
    },

    /** Which of these references are kept. */
    known: (references: readonly string[]): Promise<ReadonlySet<string>> => store(db).known(references),

    /** Applies another limit at once. */
    trim: flush,

    dropped: (): number => dropped,

    /** Looks up, while nobody waits for it, what was kept without its country. */
    completeCountries: (): Promise<void> => {
      completing = completing.then(completeCountries);
      return completing;
    },

    async stop(): Promise<void> {
      stopping.abort();
      await flush();
      await completing;
    },
  };
};
export type Blocks = ReturnType<typeof createBlocks>;
