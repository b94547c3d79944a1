import type {
  Applied,
  Confirmation,
  ErrorBody,
  HistoryEntry,
  ImportOutcome,
  ImportSession,
  NewProxyHost,
  ProxyHost,
} from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendByDoor } from '../../../testing/by-door.ts';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { startApp, type TestApp } from '../../../testing/start-app.ts';

let app: TestApp;
let admin: Caller;
let manage: ProxyHost;
beforeAll(async () => {
  app = await startApp('sqlite');
  admin = await createGiven(app).administrator();
  const forward_port = Number(new URL(app.url).port);
  const own = { domain: 'manage.example.com', forward_host: '127.0.0.1', forward_port, forward_reserved: true };
  const other = { domain: 'other.example.com', forward_host: '127.0.0.1', forward_port: 9 };
  manage = await add(own);
  await add(other);
});
afterAll(() => app.stop());

const add = async (host: NewProxyHost): Promise<ProxyHost> => {
  const { status, body } = await app.send<ProxyHost>('POST', '/proxy-hosts', host, admin.headers);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
};
const proxied = <T>(method: string, path: string, body: object) =>
  sendByDoor<T & ErrorBody>(app, method, path, body, admin.headers);
const domains = async () => (await app.send<ProxyHost[]>('GET', '/proxy-hosts')).body.map(({ domain }) => domain);

test('who came through the proxy does not prune, move or switch off the host by which they came', async () => {
  const { domain, forward_port } = manage;
  for (const [query, document] of [
    ['?prune=true', { sallyport: 1, proxy_hosts: [] }],
    ['?prune=true&dry_run=true', { sallyport: 1, proxy_hosts: [] }],
    ['', { sallyport: 1, proxy_hosts: [{ domain, forward_port: 9 }] }],
    ['', { sallyport: 1, proxy_hosts: [{ domain, enabled: false }] }],
  ] as const) {
    const answer = await proxied<Applied>('POST', `/apply${query}`, document);
    expect(answer, `${query} ${JSON.stringify(answer.body)}`).toMatchObject({
      status: 409,
      body: {
        error: 'This could lock you out: manage.example.com would not lead to this API any more',
        details: expect.stringContaining('confirm_within'),
      },
    });
  }
  expect(await domains()).toEqual(['manage.example.com', 'other.example.com']);

  // Nothing of that concerns other hosts, or who can take it back.
  const kept = {
    sallyport: 1,
    proxy_hosts: [{ domain, forward_host: '127.0.0.1', forward_port, forward_reserved: true }],
  };
  expect((await proxied<Applied>('POST', '/apply?prune=true', kept)).body).toMatchObject({ applied: true });
  expect(await domains()).toEqual(['manage.example.com']);
  const empty = { sallyport: 1, proxy_hosts: [] };
  expect((await proxied<Applied>('POST', '/apply?prune=true&dry_run=true&confirm_within=600', empty)).status).toBe(200);
  const local = await app.send<Applied>('POST', '/apply?prune=true&dry_run=true', empty);
  expect(local).toMatchObject({ status: 200, body: { changes: [{ action: 'delete', name: 'manage.example.com' }] } });
});

test('nor deletes, renames or switches it off by its name, alone or among others', async () => {
  const forward_port = Number(new URL(app.url).port);
  const own = {
    domain: 'w.example.com,v.example.com',
    forward_host: '127.0.0.1',
    forward_port,
    forward_reserved: true,
  };
  const other = { domain: 'beside.example.com', forward_host: '127.0.0.1', forward_port: 9 };
  const [way, beside] = await Promise.all([own, other].map((host) => add(host)));
  const path = `/proxy-hosts/${way?.uuid}`;
  const uuids = [beside?.uuid, way?.uuid];
  for (const [method, where, body] of [
    ['DELETE', path, {}],
    ['POST', '/proxy-hosts/bulk-delete', { uuids }],
    ['PUT', path, { domain: 'v.example.com' }],
    ['PUT', path, { forward_port: 9 }],
    ['PUT', path, { enabled: false }],
    ['POST', '/proxy-hosts/bulk', { uuids, patch: { enabled: false } }],
  ] as const) {
    expect(await proxied(method, where, body), `${method} ${where}`).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('could lock you out: w.example.com') },
    });
  }
  const { body: history } = await app.send<HistoryEntry[]>('GET', `${path}/history`);
  expect(history.map(({ action }) => action)).toEqual(['proxy_host.create']);
  expect(await proxied('POST', `/history/${history[0]?.id}/revert`, {})).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('could lock you out') },
  });

  // What leaves it as it is may be changed, and who can take it back may do anything.
  expect((await proxied('PUT', path, { name: 'the way in' })).status).toBe(200);
  expect((await proxied('PUT', `/proxy-hosts/${beside?.uuid}`, { enabled: false })).status).toBe(200);
  expect((await proxied('PUT', `${path}?confirm_within=600`, { enabled: false })).status).toBe(200);
  expect((await app.send('DELETE', path, undefined, admin.headers)).status).toBe(409);
  const { body: waiting } = await app.send<Confirmation[]>('GET', '/security/confirm', undefined, admin.headers);
  await app.send('POST', `/history/batches/${waiting[0]?.id}/revert`, undefined, admin.headers);
  expect((await app.send('POST', '/proxy-hosts/bulk-delete', { uuids }, admin.headers)).status).toBe(200);
});

test('nor overwrites it by an import', async () => {
  const content = 'manage.example.com {\n\treverse_proxy 127.0.0.1:9\n}\n';
  const { body } = await proxied<{ session: ImportSession }>('POST', '/import/upload', { content });
  const commit = { session_uuid: body.session.uuid, resolutions: { 'manage.example.com': 'overwrite' } };
  expect(await proxied('POST', '/import/commit', commit)).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('could lock you out') },
  });
  const kept = { ...commit, resolutions: { 'manage.example.com': 'keep' } };
  expect((await proxied<ImportOutcome>('POST', '/import/commit', kept)).body).toMatchObject({ skipped: 1 });
});
