import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { BlockStatistics, BlockStatisticsQuery } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { Logger } from 'pino';
import { createTurns } from '../../in-turn.ts';
import { createRoom } from '../../room.ts';
import { toCode } from './country-of.ts';
import type { CountStore, Range, RulePart, Tally } from './counts/store.ts';
import type { BlockStore } from './store.ts';

export interface BlockStatisticsDeps {
  db: Executor;
  store: (executor: Executor) => Pick<BlockStore, 'ends'>;
  /** Has every entry say what is counted of it. */
  tellUntold: () => Promise<void>;
  counts: (executor: Executor) => CountStore;
  /** See `createCountryOf`; undefined while no country database is installed. */
  countryOf: ((ip: string) => string) | undefined;
  /** How many are kept; 0: none. */
  limit: () => Promise<number>;
  clock: () => Date;
  log: Logger;
}

const DAY_MS = 86_400_000;
const DEFAULT_PARTS = 48;
const TOP = 10;
/** An answer is good for so many times as long as it took: a million entries and many who look must not keep the server busy. */
const RESTS = 10;
/** Counts that may wait: of a million entries each takes a second. */
const MOST_COUNTS = 8;

const none = (): Tally => ({ count: 0, monitored: 0 });

const add = (tally: Tally, { count, monitored }: Tally): void => {
  tally.count += count;
  tally.monitored += monitored;
};

/** The entry of `key`, made when it is first met. */
const entryOf = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
};

const weightOf = ({ count, monitored }: Tally): number => count + monitored;

/** The most frequent, first; of equal ones those that come first. */
const topOf = <T extends Tally>(tallies: readonly T[]): T[] =>
  tallies.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, TOP);

/** The most frequent of all portions. */
const topOfAll = async <T extends Tally>(portions: AsyncIterable<readonly T[]>): Promise<T[]> => {
  let top: T[] = [];
  for await (const portion of portions) {
    top = topOf([...top, ...portion]);
    await yieldToOthers();
  }
  return top;
};

const momentOf = (name: string, text: string): number => {
  const moment = Date.parse(text);
  // A leap second is of the right form, but no moment that a clock here knows.
  if (Number.isNaN(moment)) throw refuse.invalid(`${name} must be a valid date-time`);
  return moment;
};

/** The time that is asked for. Throws a 400. */
const rangeOf = ({ since, until, parts = DEFAULT_PARTS }: BlockStatisticsQuery, now: Date): Range => {
  const to = until === undefined ? now.getTime() : momentOf('until', until);
  const from = since === undefined ? to - DAY_MS : momentOf('since', since);
  if (from >= to) throw refuse.invalid('since must be before until');
  return { from, to, parts };
};

/** What is counted of a rule, and the newest entry that it decided. */
type RuleTally = Tally & Pick<RulePart, 'layer' | 'rule_id' | 'newest'>;

/** Counts by time and by rule. */
const tallyRules = async (portions: AsyncIterable<readonly RulePart[]>, { from, to, parts }: Range) => {
  const total = none();
  const overTime = Array.from({ length: parts }, (_, part) => ({
    at: new Date(from + ((to - from) * part) / parts).toISOString(),
    ...none(),
  }));
  const rules = new Map<string, RuleTally>();
  let oldestOfAll = Number.POSITIVE_INFINITY;
  for await (const portion of portions) {
    for (const { layer, rule_id, part, newest, oldest, ...tally } of portion) {
      oldestOfAll = Math.min(oldestOfAll, oldest);
      const partTally = part === undefined ? undefined : overTime[part];
      if (!partTally) continue;
      add(partTally, tally);
      add(total, tally);
      const rule = entryOf(rules, `${layer} ${rule_id}`, () => ({ layer, rule_id, newest, ...none() }));
      rule.newest = Math.max(rule.newest, newest);
      add(rule, tally);
    }
    await yieldToOthers();
  }
  return { total, overTime, rules: topOf([...rules.values()]), oldest: oldestOfAll };
};

/**
 * Since when nothing of that time is missing. Ids count from 1: when the first is gone, entries were dropped, and of what was before
 * the oldest that is left nothing is known.
 */
const completeSince = (oldest: number, { from, to }: Range, firstId: number, limit: number): string => {
  const since = limit === 0 ? to : firstId === 1 ? from : Math.min(Math.max(from, oldest), to);
  return new Date(since).toISOString();
};

/** Counts what was refused when, of what is kept. */
export const createBlockStatistics = (deps: BlockStatisticsDeps) => {
  const { db, store, tellUntold, counts, countryOf, limit, clock, log } = deps;
  /** The newest answer, and what it holds for: whoever looks at the overview asks the same again and again. */
  let last: { range: string; of: string; answer: BlockStatistics; goodUntil: number } | undefined;
  const inTurn = createTurns();
  const enter = createRoom(MOST_COUNTS, 'Refused requests are being counted; try again in a moment');

  /** What the newest entry says of each rule. */
  const withMessages = async (rules: readonly RuleTally[]): Promise<BlockStatistics['rules']> => {
    const entries = await counts(db).entries(rules.map(({ newest }) => newest));
    return rules.map(({ layer, rule_id, newest: _, ...tally }) => {
      const entry = entries.find((one) => one.layer === layer && one.rule_id === rule_id);
      const message = entry?.matches.find((match) => match.rule_id === rule_id)?.message;
      return { rule_id, layer, ...(message ? { message } : {}), ...tally };
    });
  };

  /** Of those that were not looked up yet as well; null while there is no country database. */
  const topCountries = async (range: Range): Promise<BlockStatistics['countries']> => {
    if (!countryOf) return null;
    const countries = new Map<string, Tally>();
    for await (const portion of counts(db).countries(range)) {
      for (const { key, ...tally } of portion) add(entryOf(countries, key, none), tally);
      await yieldToOthers();
    }
    for await (const portion of counts(db).withoutCountry(range)) {
      for (const { key, ...tally } of portion) add(entryOf(countries, countryOf(key), none), tally);
      await yieldToOthers();
    }
    return topOf([...countries].map(([kept, tally]) => ({ country: toCode(kept), ...tally })));
  };

  const withCountries = async (range: Range): Promise<Pick<BlockStatistics, 'addresses' | 'countries'>> => {
    const top = await topOfAll(counts(db).top('ip', range, TOP));
    const addressesWith = (codeOf: (ip: string, kept: string) => string | null) =>
      top.map(({ key, country, ...tally }) => ({ ip: key, country: codeOf(key, country), ...tally }));
    try {
      return {
        addresses: addressesWith((ip, kept) => toCode(kept || (countryOf?.(ip) ?? kept))),
        countries: await topCountries(range),
      };
    } catch (err) {
      // The database may have been taken away or broken since the start; everything else is known all the same.
      log.warn({ err }, 'the country database can not be read');
      return { addresses: addressesWith((_ip, kept) => toCode(kept)), countries: null };
    }
  };

  const count = async (range: Range): Promise<BlockStatistics> => {
    const started = performance.now();
    const asked = JSON.stringify(range);
    const known = last?.range === asked ? last : undefined;
    if (known && started < known.goodUntil) return known.answer;
    const [ends, most] = [await store(db).ends(), await limit()];
    const of = JSON.stringify([ends, most]);
    if (known?.of === of) return known.answer;
    await tellUntold();
    // What is kept goes by the number of entries, and an entry that is read again after a start is new and tells of before: every
    // one is looked at.
    const { total, overTime, rules, oldest } = await tallyRules(counts(db).rules(range), range);
    const hosts = await topOfAll(counts(db).top('host', range, TOP));
    const answer: BlockStatistics = {
      since: new Date(range.from).toISOString(),
      until: new Date(range.to).toISOString(),
      complete_since: completeSince(oldest, range, ends?.oldest ?? 1, most),
      total,
      over_time: overTime,
      hosts: hosts.map(({ key, country: _, ...tally }) => ({ host: key, ...tally })),
      rules: await withMessages(rules),
      ...(await withCountries(range)),
    };
    // What could not be looked up may be there next time.
    const now = performance.now();
    if (!countryOf || answer.countries) {
      last = { range: asked, of, answer, goodUntil: now + RESTS * (now - started) };
    }
    return answer;
  };

  /** Of all entries of a time, one count at a time. Throws a 400 for a time that is none, a 429 when too many wait for theirs. */
  return async (query: BlockStatisticsQuery): Promise<BlockStatistics> => {
    const range = rangeOf(query, clock());
    return enter(() => inTurn(() => count(range)));
  };
};
