import { createServer } from 'node:net';
import type { ConnectionTest, ErrorBody, RemoteServer } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('remote servers', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(kind);
  });
  afterAll(() => app.stop());

  const create = (fields: object = {}) =>
    app.send<RemoteServer>('POST', '/remote-servers', { name: 'Web', host: '127.0.0.1', port: 8080, ...fields });

  test('answers 201, not reachable before the first test', async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'Web',
      provider: 'generic',
      enabled: true,
      reachable: false,
      last_checked: null,
    });
    const { body: found } = await app.send('GET', `/remote-servers/${body.uuid}`);
    expect(found).toEqual({ ...body, used_by: [], used_by_total: 0 });
  });

  test.each([
    [{ host: 'h', port: 1 }, 'name is required'],
    [{ name: ' ', host: 'h', port: 1 }, 'name is required'],
    [{ name: 'n', port: 1 }, 'host is required'],
    [{ name: 'n', host: 'h' }, 'port is required'],
    [{ name: 'n', host: 'http://h', port: 1 }, 'host "http://h" must be a host name or IP address without a scheme'],
    [{ name: 'n', host: 'h', port: 70_000 }, 'port must be between 1 and 65535'],
    [
      { name: 'n', host: 'h', port: 1, provider: 'vm' },
      'provider must be one of: generic, docker, kubernetes, aws, gcp, azure',
    ],
  ])('refuses %j', async (body, error) => {
    const answer = await app.send<ErrorBody>('POST', '/remote-servers', body);
    expect(answer).toMatchObject({ status: 400, body: { error, code: 400 } });
  });

  test('lists all, or only enabled or disabled ones', async () => {
    const off = (await create({ name: 'Off', enabled: false })).body;
    const uuids = async (query: string) =>
      (await app.send<RemoteServer[]>('GET', `/remote-servers${query}`)).body.map(({ uuid }) => uuid);
    expect(await uuids('')).toContain(off.uuid);
    expect(await uuids('?enabled=false')).toContain(off.uuid);
    expect(await uuids('?enabled=true')).not.toContain(off.uuid);
    expect((await app.send('GET', '/remote-servers?enabled=maybe')).status).toBe(400);
  });

  test('changes a subset and deletes', async () => {
    const { body: server } = await create();
    const changed = await app.send<RemoteServer>('PUT', `/remote-servers/${server.uuid}`, { provider: 'aws' });
    expect(changed).toMatchObject({ status: 200, body: { provider: 'aws', host: server.host, port: server.port } });
    expect((await app.send('DELETE', `/remote-servers/${server.uuid}`)).status).toBe(204);
    for (const [method, path, body] of [
      ['GET', ''],
      ['PUT', '', {}],
      ['DELETE', ''],
      ['POST', '/test'],
    ] as const) {
      const answer = await app.send<ErrorBody>(method, `/remote-servers/${server.uuid}${path}`, body);
      expect(answer).toMatchObject({ status: 404, body: { error: 'Remote server not found' } });
    }
  });

  test('remembers the outcome of a connection test, of success and of failure', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => listener.once('listening', resolve));
    const { port } = listener.address() as { port: number };
    const { body: server } = await create({ port });
    const path = `/remote-servers/${server.uuid}`;
    const up = await app.send<ConnectionTest>('POST', `${path}/test`);
    expect(up).toMatchObject({ status: 200, body: { reachable: true, address: `127.0.0.1:${port}` } });
    expect(up.body).not.toHaveProperty('error');
    const known = (await app.send<RemoteServer>('GET', path)).body;
    expect(known).toMatchObject({ reachable: true, last_checked: up.body.timestamp });
    await new Promise((resolve) => listener.close(resolve));
    const down = await app.send<ConnectionTest>('POST', `${path}/test`);
    expect(down.body).toMatchObject({ reachable: false, error: 'connection refused' });
    expect((await app.send<RemoteServer>('GET', path)).body.reachable).toBe(false);
  });

  test('another address is not known to answer', async () => {
    const { hostname, port } = new URL(app.url);
    const { body: server } = await create({ host: hostname, port: Number(port) });
    const path = `/remote-servers/${server.uuid}`;
    await app.send('POST', `${path}/test`);
    const renamed = await app.send('PUT', path, { name: 'renamed', host: hostname });
    expect(renamed.body).toMatchObject({ reachable: true });
    expect((await app.send('PUT', path, { port: 9 })).body).toMatchObject({ reachable: false, last_checked: null });
  });

  test('names a host that does not resolve', async () => {
    const { body: server } = await create({ host: 'no-such-host.invalid' });
    const { body } = await app.send<ConnectionTest>('POST', `/remote-servers/${server.uuid}/test`);
    expect(body.reachable).toBe(false);
    expect(body.error).toMatch(/resolve/);
  });
});
