import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { isStoreUnavailable } from './store-faults.ts';

test('a connection that broke means that the store is away, at once and afterwards', async () => {
  const [client, other] = [0, 1].map(() => new pg.Client({ connectionString: inject('postgresUrl') })) as [
    pg.Client,
    pg.Client,
  ];
  client.on('error', () => undefined);
  await Promise.all([client.connect(), other.connect()]);
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  const ended = new Promise((resolve) => client.once('end', resolve));
  const underway = client.query('select pg_sleep(60)').catch((error: unknown) => error);
  await other.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  await ended;
  expect(isStoreUnavailable(await underway)).toBe(true);
  expect(isStoreUnavailable(await client.query('select 1').catch((error: unknown) => error))).toBe(true);
  expect(isStoreUnavailable(await other.query('select nothing').catch((error: unknown) => error))).toBe(false);
  await other.end();
});
