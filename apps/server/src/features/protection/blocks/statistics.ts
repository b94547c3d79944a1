import { isIP } from 'node:net';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { CountryLookup } from '@sallyport/access';
import type { BlockStatistics, BlockStatisticsQuery } from '@sallyport/contract';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import type { Logger } from 'pino';
import { createTurns } from '../../in-thread.ts';
import { createRoom } from '../../room.ts';
import type { SecurityEvent } from '../logs/security-event.ts';
import type { BlockStore } from './store.ts';

export interface BlockStatisticsDeps {
  db: Executor;
  store: (executor: Executor) => Pick<BlockStore, 'ends' | 'before'>;
  /** Undefined while no country database is installed. */
  country: CountryLookup | undefined;
  /** How many are kept; 0: none. */
  limit: () => Promise<number>;
  clock: () => Date;
  log: Logger;
}

const DAY_MS = 86_400_000;
const DEFAULT_PARTS = 48;
const TOP = 10;
/** Few enough that reading them takes a millisecond or two: SQLite reads while everybody waits. */
const ENTRIES_A_PORTION = 250;
const LOOKUPS_A_PORTION = 1_000;
/** An answer is good for so many times as long as it took: a million entries and many who look must not keep the server busy. */
const RESTS = 10;
/** Counts that may wait: of a million entries each takes seconds. */
const MOST_COUNTS = 8;

interface Tally {
  count: number;
  monitored: number;
}
const none = (): Tally => ({ count: 0, monitored: 0 });

const add = (tally: Tally, { count, monitored }: Tally): void => {
  tally.count += count;
  tally.monitored += monitored;
};

const REFUSED: Tally = { count: 1, monitored: 0 };
const REPORTED: Tally = { count: 0, monitored: 1 };

/** The entry of `key`, made when it is first met. */
const entryOf = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
};

const weightOf = ({ count, monitored }: Tally): number => count + monitored;

/** The most frequent, first; of equal ones those that were met first. Not by sorting: there may be as many clients as entries. */
const topOf = <K, T extends Tally>(tallies: ReadonlyMap<K, T>): [K, T][] => {
  const top: [K, T][] = [];
  for (const [key, tally] of tallies) {
    const last = top[TOP - 1];
    if (last && weightOf(last[1]) >= weightOf(tally)) continue;
    const place = top.findIndex(([, other]) => weightOf(other) < weightOf(tally));
    top.splice(place < 0 ? top.length : place, 0, [key, tally]);
    top.length = Math.min(top.length, TOP);
  }
  return top;
};

const TIMESTAMP = '"timestamp":"';
/** When an entry happened, without reading all of it. A text inside of it can't be taken for the field: its quotes are escaped. */
const timeOf = (entry: string): number => {
  const from = entry.indexOf(TIMESTAMP) + TIMESTAMP.length;
  return Date.parse(entry.slice(from, entry.indexOf('"', from)));
};

interface Range {
  from: number;
  to: number;
  parts: number;
}

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

type Rule = Tally & Pick<BlockStatistics['rules'][number], 'rule_id' | 'layer' | 'message'>;

const createTallies = ({ from, to, parts }: Range) => ({
  oldest: Number.POSITIVE_INFINITY,
  total: none(),
  overTime: Array.from({ length: parts }, (_, part) => ({
    at: new Date(from + ((to - from) * part) / parts).toISOString(),
    ...none(),
  })),
  hosts: new Map<string, Tally>(),
  rules: new Map<string, Rule>(),
  addresses: new Map<string, Tally>(),
});
type Tallies = ReturnType<typeof createTallies>;

const ruleOf = ({ rule_id, layer, matches }: SecurityEvent): Rule => {
  const message = matches.find((match) => match.rule_id === rule_id)?.message;
  return { rule_id, layer, ...(message ? { message } : {}), ...none() };
};

/** Counts an entry when it is of that time. */
const countIn = (tallies: Tallies, { from, to, parts }: Range, entry: string, host: string): void => {
  const at = timeOf(entry);
  if (at < tallies.oldest) tallies.oldest = at;
  if (!(at >= from && at < to)) return;
  const event = JSON.parse(entry) as SecurityEvent;
  const one = event.monitored ? REPORTED : REFUSED;
  add(tallies.total, one);
  const part = tallies.overTime[Math.floor(((at - from) / (to - from)) * parts)];
  if (part) add(part, one);
  if (host !== '') add(entryOf(tallies.hosts, host, none), one);
  const rule = event.rule_id === null ? event.layer : `${event.layer} ${event.rule_id}`;
  add(
    entryOf(tallies.rules, rule, () => ruleOf(event)),
    one,
  );
  add(entryOf(tallies.addresses, event.ip, none), one);
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
export const createBlockStatistics = ({ db, store, country, limit, clock, log }: BlockStatisticsDeps) => {
  /** The newest answer, and what it holds for: whoever looks at the overview asks the same again and again. */
  let last: { range: string; of: string; answer: BlockStatistics; goodUntil: number } | undefined;
  const inTurn = createTurns();
  const enter = createRoom(MOST_COUNTS, 'Refused requests are being counted; try again in a moment');

  const lookUp = (ip: string): string | null => (country && isIP(ip) !== 0 ? country(ip) : null);

  const countriesOf = async (addresses: Tallies['addresses']): Promise<BlockStatistics['countries']> => {
    if (!country) return null;
    const countries = new Map<string | null, Tally>();
    let lookups = 0;
    for (const [ip, tally] of addresses) {
      add(entryOf(countries, lookUp(ip), none), tally);
      lookups += 1;
      if (lookups % LOOKUPS_A_PORTION === 0) await yieldToOthers();
    }
    return topOf(countries).map(([code, tally]) => ({ country: code, ...tally }));
  };

  const withCountries = async (addresses: Tallies['addresses']) => {
    const top = topOf(addresses);
    try {
      return {
        addresses: top.map(([ip, tally]) => ({ ip, country: lookUp(ip), ...tally })),
        countries: await countriesOf(addresses),
      };
    } catch (err) {
      // The database may have been taken away or broken since the start; everything else is known all the same.
      log.warn({ err }, 'the country database can not be read');
      return { addresses: top.map(([ip, tally]) => ({ ip, country: null, ...tally })), countries: null };
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
    const tallies = createTallies(range);
    // What is kept goes by the number of entries, and an entry that is read again after a start is new and tells of before: every
    // one is looked at. When it was and which rule decided is in the entry alone.
    for (let before = (ends?.newest ?? 0) + 1; before > 1; ) {
      const entries = await store(db).before(before, ENTRIES_A_PORTION);
      for (const { entry, host } of entries) countIn(tallies, range, entry, host);
      before = entries.at(-1)?.id ?? 0;
      await yieldToOthers();
    }
    const answer: BlockStatistics = {
      since: new Date(range.from).toISOString(),
      until: new Date(range.to).toISOString(),
      complete_since: completeSince(tallies.oldest, range, ends?.oldest ?? 1, most),
      total: tallies.total,
      over_time: tallies.overTime,
      hosts: topOf(tallies.hosts).map(([host, tally]) => ({ host, ...tally })),
      rules: topOf(tallies.rules).map(([, rule]) => rule),
      ...(await withCountries(tallies.addresses)),
    };
    // What could not be looked up may be there next time.
    const now = performance.now();
    if (!country || answer.countries) {
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
