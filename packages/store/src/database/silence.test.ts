import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest';
import { endWhenSilent, type Patience, SILENCE_MS } from './silence.ts';

let pool: pg.Pool;
let client: pg.PoolClient;
/** Holds locks that `client` waits for. */
let other: pg.PoolClient;
let patience: Patience;
let ended: boolean;

beforeEach(async () => {
  pool = new pg.Pool({ connectionString: inject('postgresUrl') });
  pool.on('error', () => {});
  [client, other] = await Promise.all([pool.connect(), pool.connect()]);
  ended = false;
  client.on('error', () => {});
  client.once('end', () => {
    ended = true;
  });
  patience = { isEndless: false };
  endWhenSilent(client, patience);
  await other.query('select pg_advisory_lock(811), pg_advisory_lock(812)');
  // Only what is set from here on: the connections are there.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(async () => {
  vi.useRealTimers();
  client.release(true);
  other.release(true);
  await pool.end();
});

const waiting = () => {
  const answer = client.query('select pg_advisory_lock(811)').then(
    () => 'answered',
    () => 'failed',
  );
  return { answer, unlock: () => other.query('select pg_advisory_unlock_all()') };
};

test('ends a connection whose server says nothing any more, and what waits on it fails', async () => {
  const { answer } = waiting();
  vi.advanceTimersByTime(SILENCE_MS);
  expect(await answer).toBe('failed');
  expect(ended).toBe(true);
});

test('does not end one a moment earlier', async () => {
  const { answer, unlock } = waiting();
  vi.advanceTimersByTime(SILENCE_MS - 1);
  await unlock();
  expect(await answer).toBe('answered');
});

test('waits as long as it takes when it may', async () => {
  patience.isEndless = true;
  const { answer, unlock } = waiting();
  for (const _ of Array.from({ length: 10 })) {
    vi.advanceTimersByTime(SILENCE_MS);
    await nextTurn();
  }
  await unlock();
  expect(await answer).toBe('answered');
});

test('leaves a connection alone that is asked nothing, and watches over the next question', async () => {
  // Several messages for one question.
  await client.query('select $1::int', [1]);
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(10 * SILENCE_MS);
  expect((await client.query('select 2 as two')).rows).toEqual([{ two: 2 }]);
  const { answer } = waiting();
  vi.advanceTimersByTime(SILENCE_MS);
  expect(await answer).toBe('failed');
});

test('does not end a connection whose answer flows, and counts from its last word', async () => {
  const answer = client
    .query(`do $$ begin perform pg_advisory_lock(811); raise notice 'there'; perform pg_advisory_lock(812); end $$`)
    .then(
      () => 'answered',
      () => 'failed',
    );
  vi.advanceTimersByTime(SILENCE_MS - 1);
  const noticed = once(client, 'notice');
  await other.query('select pg_advisory_unlock(811)');
  await noticed;
  // Of a connection that was given up the client hears later.
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection;
  vi.advanceTimersByTime(SILENCE_MS - 1);
  await nextTurn();
  expect(stream.destroyed).toBe(false);
  vi.advanceTimersByTime(1);
  await nextTurn();
  expect(stream.destroyed).toBe(true);
  expect(await answer).toBe('failed');
});

test('takes an answer that came while this process stood still', async () => {
  // Where timers run, which is before what has arrived is read.
  await new Promise((resolve) => setTimeout(resolve, 0));
  const answer = client.query('select 1 as one').then(
    ({ rows }) => rows,
    () => 'failed',
  );
  const silent = new Int32Array(new SharedArrayBuffer(4));
  let answered = 0;
  const { processID } = client as unknown as { processID: number };
  const idle = `select count(*) as idle from pg_stat_activity where pid = ${processID} and state = 'idle' and query = 'select 1 as one'`;
  while (answered === 0) {
    Atomics.wait(silent, 0, 0, 10);
    answered = Number(execFileSync('psql', ['-XAtc', idle, inject('postgresUrl')], { encoding: 'utf8' }));
  }
  vi.advanceTimersByTime(SILENCE_MS);
  expect(await answer).toEqual([{ one: 1 }]);
});

test('leaves no timer behind when the connection ends by itself', async () => {
  const { answer } = waiting();
  const { processID } = client as unknown as { processID: number };
  await other.query('select pg_terminate_backend($1)', [processID]);
  expect(await answer).toBe('failed');
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0), { timeout: 45_000 });
});
