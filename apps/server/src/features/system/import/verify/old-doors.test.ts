import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { createOriginGuard } from '../../../../dataplane/routes/origins/guard.ts';
import { findOldDoors } from './old-doors.ts';

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    ({ status, message }) => `${status} ${message}`,
  );
const none = { lookup: () => expect.unreachable('nothing is looked up'), reservedOrigin: () => undefined };

test('the old proxy is found where one of its first addresses takes connections, for each scheme that is asked', async () => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port: gone } = closed.address() as AddressInfo;
  closed.close();
  await once(closed, 'close');
  try {
    const [http, https] = [port, port].map((own, at) => ({ address: '127.0.0.1', port: own, isTls: at === 1 }));
    const ask = (host: string, ports: { http?: number; https?: number }, addresses: string[] = []) =>
      findOldDoors({ host, http: ports.http, https: ports.https }, { ...none, lookup: async () => addresses });
    expect(await ask('127.0.0.1', { http: port, https: port })).toEqual({ http, https });
    expect(await ask('127.0.0.1', { https: port })).toEqual({ http: undefined, https });
    expect(await ask('127.0.0.1', { http: gone, https: port })).toEqual({ http: undefined, https });
    // Nothing listens at the first one.
    expect(await ask('old.lan', { http: port }, ['127.0.0.2', '127.0.0.1'])).toEqual({ http, https: undefined });
    const five = ['127.0.0.2', '127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.1'];
    expect(await ask('old.lan', { http: port }, five.slice(1))).toMatchObject({ http });
    await expect(ask('old.lan', { http: port }, five)).rejects.toMatchObject({
      ...{ status: 400, message: 'old_address does not take connections', details: expect.stringContaining(`${port}`) },
    });
    await expect(ask('127.0.0.1', { http: gone })).rejects.toMatchObject({ status: 400 });
  } finally {
    server.close();
  }
});

test('what is neither public nor private, a metadata service or a listener of ours is not asked, whatever else a name resolves to', async () => {
  const guard = createOriginGuard(() => []);
  const ask = (host: string, addresses: string[] = [], reservedOrigin = guard) =>
    refusal(findOldDoors({ host, http: 80, https: 443 }, { lookup: async () => addresses, reservedOrigin }));
  // None of them can be reached, in case that one is asked.
  for (const [address, what] of [
    ['224.0.0.1', 'neither a public nor a private address'],
    ['240.0.0.1', 'neither a public nor a private address'],
    ['ff02::1', 'neither a public nor a private address'],
    ['fe80::1', 'a link-local or metadata address'],
  ] as const) {
    const said = `403 old_address is ${what}, which is not asked`;
    expect(await ask(address), address).toBe(said);
    expect(await ask('old.lan', ['127.0.0.1', address]), address).toBe(said);
  }
  expect(await refusal(findOldDoors({ host: 'metadata.google.internal', http: 80, https: undefined }, none))).toBe(
    '403 old_address is a metadata service, which is not asked',
  );
  const asked: string[] = [];
  const ours = (address: string, port: number) => {
    asked.push(`${address} ${port}`);
    return port === 443 ? 'a listener of Sallyport' : undefined;
  };
  expect(await ask('127.0.0.1', [], ours)).toBe('403 old_address is a listener of Sallyport, which is not asked');
  expect(asked).toEqual(['127.0.0.1 80', '127.0.0.1 443']);
  const lookup = () => Promise.reject(new Error('NXDOMAIN'));
  const unknown = findOldDoors({ host: 'old.lan', http: 80, https: 443 }, { ...none, lookup });
  expect(await refusal(unknown)).toBe('400 old_address does not resolve');
});
