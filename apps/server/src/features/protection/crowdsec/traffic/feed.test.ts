import { mkdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../../test/support/temporary-directory.ts';
import { createTrafficFeed } from './feed.ts';

const line = (fields: object = {}): string =>
  JSON.stringify({
    ...{ time: '2026-11-02T04:09:08.123Z', client: '203.0.113.7', reference: 'abc', status: 404, refused: '-' },
    ...{ host: 'shop.test', host_id: '7', method: 'GET', user_agent: '-', uri: '/missing' },
    ...fields,
  });

interface Given {
  feed: ReturnType<typeof createTrafficFeed>;
  /** Tells these lines as HAProxy does; resolves when all were taken. */
  tell: (...lines: string[]) => Promise<void>;
  /** What CrowdSec is to read: client and target of each line. */
  read: () => string[];
  /** What HAProxy was told to do, and what the log was told. */
  told: boolean[];
  logged: string[];
}

const given = (work: (it: Given) => Promise<void>, tellTraffic?: (isWanted: boolean) => Promise<void>): Promise<void> =>
  withTemporaryDirectory(async (directory) => {
    const [socket, path] = [join(directory, 'traffic.sock'), join(directory, 'log/access.log')];
    mkdirSync(join(directory, 'log'));
    const told: boolean[] = [];
    const logged: string[] = [];
    const feed = createTrafficFeed({
      socket,
      path,
      group: undefined,
      async tellTraffic(isWanted) {
        told.push(isWanted);
        await tellTraffic?.(isWanted);
      },
      log: pino({}, { write: (text: string) => void logged.push(text) }),
    });
    const tell = (...lines: string[]): Promise<void> =>
      new Promise((resolve, reject) => {
        const connection = connect(socket, () => connection.end(`${lines.join('\n')}\n`));
        connection.once('error', reject).once('close', () => resolve());
        connection.resume();
      });
    const read = (): string[] =>
      readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((text) => text.replace(/^shop\.test (\S+) .*"GET (\S+) .*$/, '$1 $2'));
    try {
      await work({ feed, tell, read, told, logged });
    } finally {
      await feed.stop();
    }
  });

test('what HAProxy tells is written while it is wanted, and counted over all files', () =>
  given(async ({ feed, tell, read, told, logged }) => {
    expect(feed.counts()).toEqual({ written: 0, dropped: 0 });
    // There is nothing to end yet.
    await feed.rest();
    expect([told.splice(0), logged]).toEqual([[false], []]);
    await feed.begin();
    await feed.begin();
    expect(told).toEqual([true]);
    await tell(line(), line({ uri: '/other', client: '2001:db8::1' }));
    await expect.poll(read).toEqual(['203.0.113.7 /missing', '2001:db8::1 /other']);
    await expect.poll(feed.counts).toEqual({ written: 2, dropped: 0 });
    await feed.rest();
    expect(told).toEqual([true, false]);
    await expect(tell(line())).rejects.toThrow(/ENOENT|ECONNREFUSED/);
    await feed.begin();
    await tell(line({ uri: '/again' }));
    await expect.poll(feed.counts).toEqual({ written: 3, dropped: 0 });
    expect([feed.issue(), told]).toEqual([null, [true, false, true]]);
    // The next server has it go on.
    await feed.stop();
    expect(told).toHaveLength(3);
    expect(feed.counts()).toEqual({ written: 3, dropped: 0 });
  }));

test('what is no news or no line of a request is left out, and what HAProxy dropped is counted', () =>
  given(async ({ feed, tell, read }) => {
    await feed.begin();
    await tell(
      line({ refused: 'decision' }),
      line({ uri: '/"refused":"decision"' }),
      'x '.concat(line({ uri: '/before' })),
      '{"status":404}',
      '{"client":"203.0.113.7"}',
      '{"client":"203.0.113.7","status":404}',
      '7 events dropped',
      '1 event dropped',
      'something else',
      line({ uri: '/last' }),
    );
    await expect.poll(read).toEqual([expect.stringContaining('203.0.113.7 /'), '203.0.113.7 /last']);
    expect(feed.counts()).toEqual({ written: 2, dropped: 8 });
  }));

test('of one client no more is written than helps to judge it, and what is not is counted', () =>
  given(async ({ feed, tell, read }) => {
    await feed.begin();
    const many = 300;
    await tell(...Array.from({ length: many }, () => line({ client: '203.0.113.8' })), line({ uri: '/end' }));
    await expect.poll(() => read().at(-1)).toBe('203.0.113.7 /end');
    const { written, dropped } = feed.counts();
    expect(written + dropped).toBe(many + 1);
    // As many again where a second ends in between.
    expect(written).toBeLessThanOrEqual(202);
  }));

test('what went well leaves room for what did not', () =>
  given(async ({ feed, tell, read }) => {
    await feed.begin();
    // So many would need ten seconds.
    const well = Array.from({ length: 5_000 }, (_, n) => line({ status: 200, client: `198.18.${n >> 8}.${n & 255}` }));
    const missed = Array.from({ length: 100 }, (_, n) => line({ client: '203.0.113.8', uri: `/missing-${n}` }));
    await tell(...well, ...missed);
    await expect.poll(() => read().at(-1)).toBe('203.0.113.8 /missing-99');
    expect(read().filter((text) => text.startsWith('203.0.113.8 '))).toHaveLength(100);
    expect(feed.counts().dropped).toBeGreaterThan(0);
  }));

test('a line without an end is none', () =>
  given(async ({ feed, tell }) => {
    await feed.begin();
    await tell('x'.repeat(300_000)).catch(() => undefined);
    await expect.poll(feed.counts).toEqual({ written: 0, dropped: 1 });
  }));

test('what HAProxy can not be told is logged, and the next change is made all the same', () => {
  let fails = true;
  return given(
    async ({ feed, tell, logged, read }) => {
      await feed.begin();
      expect(logged.map((text) => JSON.parse(text))).toMatchObject([
        { level: 50, err: { message: 'no HAProxy' }, msg: 'the traffic can not be handed to CrowdSec' },
      ]);
      fails = false;
      await tell(line());
      await expect.poll(read).toHaveLength(1);
      await feed.rest();
      await feed.begin();
      expect(logged).toHaveLength(1);
    },
    async () => {
      if (fails) throw new Error('no HAProxy');
    },
  );
});
