import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { diskOf, isDiskFull, isStoreUnavailable } from './faults.ts';

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

const withCode = (code: string, message = '') => Object.assign(new Error(message), { code });

test('what PostgreSQL and the network say of a store that is away', () => {
  for (const code of ['08006', '57P01', '57P03', '3D000', '53300', 'ECONNRESET', 'EPIPE']) {
    expect(isStoreUnavailable(withCode(code)), code).toBe(true);
  }
  for (const message of [
    'Connection terminated unexpectedly',
    'Client has encountered a connection error and is not queryable',
    'timeout exceeded when trying to connect',
  ]) {
    expect(isStoreUnavailable(new Error(message)), message).toBe(true);
    expect(isStoreUnavailable(new Error(`no: ${message}`)), message).toBe(false);
  }
  for (const fault of [
    withCode('23505'),
    withCode('42P08'),
    withCode('x53300'),
    new Error(''),
    'a text',
    { code: 8 },
    {},
  ]) {
    expect(isStoreUnavailable(fault)).toBe(false);
  }
  const refused = Object.assign(withCode('ECONNREFUSED'), { syscall: 'connect' });
  expect(isStoreUnavailable(refused)).toBe(true);
  expect(isStoreUnavailable(Object.assign(withCode('EACCES'), { syscall: 'open' }))).toBe(false);
  expect(isStoreUnavailable(new AggregateError([new Error('no address'), refused]))).toBe(true);
  expect(isStoreUnavailable(new AggregateError([new Error('no address')]))).toBe(false);
});

test('what says that there was no room, also as the cause of something else', () => {
  for (const code of ['SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE', '53100', 'ENOSPC', 'EDQUOT']) {
    const full = withCode(code);
    expect(isDiskFull(full), code).toBe(true);
    expect(isDiskFull(new Error('cannot write', { cause: new Error('again', { cause: full }) })), code).toBe(true);
    expect(diskOf(full), code).toBe(code === '53100' ? 'PostgreSQL server' : 'data directory');
  }
  for (const fault of [withCode('SQLITE_BUSY'), withCode(''), new Error('ENOSPC'), null, undefined, 'ENOSPC']) {
    expect(isDiskFull(fault)).toBe(false);
    expect(isDiskFull(new Error('cannot write', { cause: fault }))).toBe(false);
  }
  expect(isDiskFull({ cause: withCode('ENOSPC') })).toBe(false);
  expect(diskOf(undefined)).toBe('data directory');
});
