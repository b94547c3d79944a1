import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { isStoreUnavailable } from './faults.ts';

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

const faultOf = (config: pg.ClientConfig): Promise<unknown> => {
  const client = new pg.Client(config);
  client.on('error', () => undefined);
  return client.connect().then(
    () => client.end(),
    (error: unknown) => error,
  );
};

test('a name that nobody knows any more, and a server that takes no more connections, mean it as well', async () => {
  // A label of 64 letters: no resolver has to be asked.
  expect(isStoreUnavailable(await faultOf({ host: `${'x'.repeat(64)}.example.com` }))).toBe(true);

  const admin = new pg.Client({ connectionString: inject('postgresUrl') });
  await admin.connect();
  await admin.query('create role full_house login connection limit 0');
  const url = new URL(inject('postgresUrl'));
  url.username = 'full_house';
  const refused = await faultOf({ connectionString: url.href });
  await admin.query('drop role full_house');
  await admin.end();
  expect(refused).toMatchObject({ code: '53300' });
  expect(isStoreUnavailable(refused)).toBe(true);
});

test('so does a name whose addresses all refuse', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  const socket = connect({
    host: 'db.example.com',
    port,
    autoSelectFamily: true,
    lookup: (_name, _options, done) => done(null, addresses),
  });
  const [error] = await new Promise<[Error]>((resolve) => socket.once('error', (...found: [Error]) => resolve(found)));
  expect(error).toBeInstanceOf(AggregateError);
  expect(isStoreUnavailable(error)).toBe(true);
});
