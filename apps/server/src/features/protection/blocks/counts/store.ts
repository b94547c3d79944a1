import type { Executor } from '@sallyport/store/database/open';
import { type Expression, sql } from 'kysely';
import type { SecurityEvent } from '../../logs/security-event.ts';
import { NOT_LOOKED_UP } from '../country-of.ts';

/** Few enough that counting them takes a few milliseconds: SQLite counts while everybody waits. */
const ROWS_A_PORTION = 5_000;
/** What is counted; moments in milliseconds since the epoch, `from` belongs to it and `to` does not. */
export interface Range {
  from: number;
  to: number;
  /** Equal parts of it. */
  parts: number;
}

export interface Tally {
  /** Refused. */
  count: number;
  /** Only reported. */
  monitored: number;
}

/** Entries of one layer and rule in one part of the time. */
export interface RulePart extends Tally {
  layer: SecurityEvent['layer'];
  rule_id: number | null;
  /** Undefined: outside of the time. */
  part: number | undefined;
  /** Id of the newest of them. */
  newest: number;
  /** When the oldest of them was. */
  oldest: number;
}

export interface KeyTally extends Tally {
  key: string;
}

/** With the country of an address, as it is kept. */
interface PlacedTally extends KeyTally {
  country: string;
}

type Indexed = 'layer' | 'host' | 'ip' | 'country';

const bigint = (value: number) => sql<number>`cast(${value} as bigint)`;

const within = ({ from, to }: Range) => sql<boolean>`(at_ms >= ${bigint(from)} and at_ms < ${bigint(to)})`;

const partOf = (range: Range) => {
  const part = sql`(at_ms - ${bigint(range.from)}) * ${bigint(range.parts)} / ${bigint(range.to - range.from)}`;
  return sql<number | string | null>`case when ${within(range)} then ${part} end`;
};

const refused = sql<number | string>`count(*) - sum(monitored)`.as('count');
const reported = sql<number | string>`sum(monitored)`.as('monitored');

/** PostgreSQL's sums come as text. */
const tallyOf = <Row extends { count: number | string; monitored: number | string }>(row: Row) => ({
  ...row,
  count: Number(row.count),
  monitored: Number(row.monitored),
});

/** Counts what is kept: in portions, between which others get their turn, and out of indices alone. */
export const countStore = (db: Executor) => {
  const table = () => db.selectFrom('security_blocks');

  /** The next key of an index; undefined after the last. */
  const keyAfter = async (column: Indexed, key: string): Promise<string | undefined> => {
    const next = table().select(sql<string>`${sql.ref(column)}`.as('key'));
    return (await next.where(column, '>', key).orderBy(column).limit(1).executeTakeFirst())?.key;
  };

  /** Cuts the rows of a key into portions. Not by pairs of key and id: SQLite would look for the key alone. */
  async function* portionsOf(column: Indexed, key: string): AsyncGenerator<Expression<boolean>> {
    for (let from: number | undefined = 0; from !== undefined; ) {
      const after: Expression<boolean> = sql<boolean>`${sql.ref(column)} = ${key} and id > ${from}`;
      const end: { id: number } | undefined = await table()
        .select('id')
        .where(after)
        .orderBy('id')
        .offset(ROWS_A_PORTION - 1)
        .limit(1)
        .executeTakeFirst();
      yield end ? sql<boolean>`${after} and id <= ${end.id}` : after;
      from = end?.id;
    }
  }

  /** The rows of every key of an index that is not empty, in portions. For few keys. */
  async function* portionsOfAll(column: Indexed): AsyncGenerator<Expression<boolean>> {
    for (let key = await keyAfter(column, ''); key !== undefined; key = await keyAfter(column, key)) {
      yield* portionsOf(column, key);
    }
  }

  /** Cuts an index into portions of whole keys that are not empty, and keys that may fill several. For many keys. */
  async function* keysOf(column: Indexed): AsyncGenerator<{ rows: Expression<boolean> } | { key: string }> {
    const key = sql.ref(column);
    for (let from: string | undefined = ''; from !== undefined; ) {
      const after: Expression<boolean> = sql<boolean>`${key} > ${from}`;
      const end: { key: string } | undefined = await table()
        .select(sql<string>`${key}`.as('key'))
        .where(after)
        .orderBy(column)
        .offset(ROWS_A_PORTION - 1)
        .limit(1)
        .executeTakeFirst();
      yield { rows: end ? sql<boolean>`${after} and ${key} < ${end.key}` : after };
      if (end) yield { key: end.key };
      from = end?.key;
    }
  }

  /** What `rows` hold of each name or address, the most frequent first. */
  const tallyKeys = async (
    column: 'host' | 'ip',
    range: Range,
    rows: Expression<boolean>,
    most: number,
  ): Promise<PlacedTally[]> => {
    const country = column === 'ip' ? sql<string>`max(country)` : sql<string>`''`;
    const found = await table()
      .select([sql<string>`${sql.ref(column)}`.as('key'), country.as('country'), refused, reported])
      .where(rows)
      .where(within(range))
      .groupBy(column)
      .orderBy(sql`count(*)`, 'desc')
      .orderBy(column)
      .limit(most)
      .execute();
    return found.map(tallyOf);
  };

  return {
    /** By layer, rule and part of the time, and what lies outside of it. */
    async *rules(range: Range): AsyncGenerator<RulePart[]> {
      for await (const portion of portionsOfAll('layer')) {
        const rows = await table()
          .select(['layer', 'rule_id', partOf(range).as('part'), refused, reported])
          .select(sql<number>`max(id)`.as('newest'))
          // What does not tell when it was has 0 or less.
          .select(sql<number | string | null>`min(case when at_ms > 0 then at_ms end)`.as('oldest'))
          .where(portion)
          .groupBy(['layer', 'rule_id', sql`3`])
          .execute();
        yield rows.map((row) => ({
          ...tallyOf(row),
          layer: row.layer as SecurityEvent['layer'],
          part: row.part === null ? undefined : Number(row.part),
          oldest: row.oldest === null ? Number.POSITIVE_INFINITY : Number(row.oldest),
        }));
      }
    },

    /**
     * The `most` most frequent of each portion of names or addresses, with the country of an address. One that fills several portions
     * comes with its last; those before are empty.
     */
    async *top(column: 'host' | 'ip', range: Range, most: number): AsyncGenerator<PlacedTally[]> {
      for await (const portion of keysOf(column)) {
        if ('rows' in portion) {
          yield tallyKeys(column, range, portion.rows, most);
          continue;
        }
        const whole: PlacedTally = { key: portion.key, country: '', count: 0, monitored: 0 };
        for await (const rows of portionsOf(column, portion.key)) {
          const [part] = await tallyKeys(column, range, rows, 1);
          whole.count += part?.count ?? 0;
          whole.monitored += part?.monitored ?? 0;
          // What was not looked up of it is empty.
          whole.country ||= part?.country ?? '';
          yield [];
        }
        if (whole.count + whole.monitored > 0) yield [whole];
      }
    },

    /** By the country that was looked up. */
    async *countries(range: Range): AsyncGenerator<KeyTally[]> {
      for await (const portion of portionsOfAll('country')) {
        const rows = await table()
          .select(['country as key', refused, reported])
          .where(portion)
          .where(within(range))
          .groupBy('country')
          .execute();
        yield rows.map(tallyOf);
      }
    },

    /** By address, where no country was looked up yet. */
    async *withoutCountry(range: Range): AsyncGenerator<KeyTally[]> {
      for await (const portion of portionsOf('country', NOT_LOOKED_UP)) {
        const rows = await table()
          .select(['ip as key', refused, reported])
          .where(portion)
          .where(within(range))
          .groupBy('ip')
          .execute();
        yield rows.map(tallyOf);
      }
    },

    /** These entries, as they are stored. */
    async entries(ids: readonly number[]): Promise<SecurityEvent[]> {
      if (ids.length === 0) return [];
      const rows = await table().select('entry').where('id', 'in', ids).execute();
      return rows.map(({ entry }) => JSON.parse(entry) as SecurityEvent);
    },
  };
};
export type CountStore = ReturnType<typeof countStore>;
