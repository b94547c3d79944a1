import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { createLockQueue } from './lock-queue.ts';
import { type Database, openDatabase } from './open.ts';

const away = () => new Error('Connection terminated unexpectedly');

test('works run one after the other, whatever becomes of those before', async () => {
  const inTurn = createLockQueue();
  const log: string[] = [];
  const work = (name: string, error?: Error) =>
    inTurn(async () => {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
      if (error) throw error;
      return name;
    });
  const settled = await Promise.allSettled([work('a', new Error('no')), work('b', away()), work('c')]);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('who has waited long for a work that finds the database away fails with it, and who came later tries', async () => {
  const inTurn = createLockQueue();
  const failed = Promise.withResolvers<never>();
  const begun: string[] = [];
  const noted = (name: string) => async () => {
    begun.push(name);
  };
  vi.useFakeTimers({ toFake: ['performance'] });
  try {
    const first = inTurn(() => failed.promise);
    const early = inTurn(noted('early'));
    vi.advanceTimersByTime(5_000);
    const late = inTurn(noted('late'));
    const error = away();
    failed.reject(error);
    expect(await Promise.allSettled([first, early, late])).toMatchObject([
      { status: 'rejected', reason: error },
      { status: 'rejected', reason: error },
      { status: 'fulfilled' },
    ]);
    expect(begun).toEqual(['late']);
    await inTurn(noted('next'));
    expect(begun).toEqual(['late', 'next']);
  } finally {
    vi.useRealTimers();
  }
});

test('a thousand wait; one more is told to come again, and there is room as soon as one had its turn', async () => {
  const inTurn = createLockQueue();
  const slow = Promise.withResolvers<void>();
  const begun: number[] = [];
  const all = [inTurn(() => slow.promise)];
  for (let at = 0; at < 1_000; at += 1) all.push(inTurn(async () => void begun.push(at)));
  const isRefused = { status: 503, headers: { 'retry-after': '5' } };
  await expect(inTurn(async () => 'one more')).rejects.toMatchObject(isRefused);
  slow.resolve();
  await all[1];
  expect(await inTurn(async () => 'after the first')).toBe('after the first');
  await Promise.all(all);
  expect(begun).toEqual(Array.from({ length: 1_000 }, (_, at) => at));
});

/** Of one PostgreSQL database that has the two rows which transactions lock. */
let nodes: Database[];
let admin: pg.Client;
let name: string;
beforeEach(async () => {
  admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  name = `turns_${randomUUID().replaceAll('-', '')}`;
  await admin.query(`create database ${name} template ${inject('postgresTemplate')}`);
  const url = new URL(inject('postgresUrl'));
  url.pathname = `/${name}`;
  nodes = [1, 2].map(() => openDatabase({ dataDir: '/', databaseUrl: url.href }));
});
afterEach(async () => {
  for (const { stop } of nodes) await stop();
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
});

test('many slow changes at once of two nodes come through: a server that answers one after the other is not away', async () => {
  const change = (database: Database): Promise<number> =>
    database.transact(async (tx, revision) => {
      // Together twice as long as one may wait for a connection, or for an answer of its own.
      await sql`select pg_sleep(0.25)`.execute(tx);
      return revision;
    });
  const revisions = await Promise.all(Array.from({ length: 56 }, (_, at) => change(nodes[at % 2] as Database)));
  expect(new Set(revisions).size).toBe(56);
});
