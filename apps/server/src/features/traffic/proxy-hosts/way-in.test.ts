import type { Applied, ErrorBody, ImportOutcome, ImportSession, ProxyHost } from '@sallyport/contract';
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
  for (const host of [own, other]) {
    const made = await app.send<ProxyHost>('POST', '/proxy-hosts', host, admin.headers);
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    if (host === own) manage = made.body;
  }
});
afterAll(() => app.stop());

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
