import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { ProxyHost, Warning } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../../../test/support/certificates.ts';
import { createGiven } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('warnings of a proxy host', (kind) => {
  let app: TestApp;
  let admin: Record<string, string>;
  let serial = 0;

  const send = <T>(method: string, path: string, body?: unknown) => app.send<T>(method, path, body, admin);

  const create = async (fields: object = {}) => {
    serial += 1;
    const origin = { forward_host: '127.0.0.1', forward_port: 9, waf_enabled: false };
    const answer = await send<ProxyHost>('POST', '/proxy-hosts', {
      domain: `w${serial}.example.com`,
      ...origin,
      ...fields,
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const read = async ({ uuid }: ProxyHost): Promise<Warning[]> =>
    (await send<ProxyHost>('GET', `/proxy-hosts/${uuid}`)).body.warnings;
  const set = async (settings: Record<string, boolean>) => {
    for (const [key, value] of Object.entries(settings)) {
      expect((await send('POST', '/settings', { key, value: String(value) })).status).toBe(200);
    }
  };
  const certify = async (...names: string[]) =>
    (await send<{ id: number }>('POST', '/certificates/upload', uploadForm(names[0] ?? '', makeCertificate(names))))
      .body;

  beforeAll(async () => {
    app = await startApp(kind);
    admin = (await createGiven(app).administrator()).headers;
    await send('POST', '/security/config', { admin_whitelist: '127.0.0.1' });
  });
  afterAll(() => app.stop());

  test('a host that does what it says has none', async () => {
    const host = await create();
    expect(host.warnings).toEqual([]);
    expect(await read(host)).toEqual([]);
  });

  test('says which switch keeps firewall and access list off, in every answer', async () => {
    await set({ 'feature.guard.enabled': false, 'security.waf.enabled': false, 'security.acl.enabled': false });
    const { body: list } = await send<{ id: number }>('POST', '/access-lists', { name: 'office', type: 'deny' });
    const host = await create({ waf_enabled: true, access_list_id: list.id });
    const told = (warnings: Warning[]) => warnings.map(({ field, message }) => `${field}: ${message}`);
    const suiteOff = [
      'access_list_id: access list "office" is not enforced: the security suite is switched off',
      'waf_enabled: the firewall does not judge this host: the security suite is switched off',
    ];
    expect(told(host.warnings)).toEqual(suiteOff);
    const { body: all } = await send<ProxyHost[]>('GET', '/proxy-hosts');
    expect(told(all.find(({ uuid }) => uuid === host.uuid)?.warnings ?? [])).toEqual(suiteOff);
    const { body: bulk } = await send<ProxyHost[]>('POST', '/proxy-hosts/bulk', {
      uuids: [host.uuid],
      patch: { name: 'n' },
    });
    expect(told(bulk[0]?.warnings ?? [])).toEqual(suiteOff);
    await set({ 'feature.guard.enabled': true });
    expect(told(await read(host))).toEqual([
      'access_list_id: access list "office" is not enforced: access lists are switched off (security.acl.enabled)',
      'waf_enabled: the firewall does not judge this host: it is switched off (security.waf.enabled)',
    ]);
    await set({ 'security.waf.enabled': true, 'security.acl.enabled': true });
    expect(await read(host)).toEqual([]);
    await send('PUT', `/access-lists/${list.id}`, { enabled: false });
    expect(told(await read(host))).toEqual([
      'access_list_id: access list "office" is switched off, so it admits everybody',
    ]);
  });

  test('a list and a decision say so themselves', async () => {
    interface Warned {
      id: number;
      uuid: string;
      warnings: Warning[];
    }
    const off = { 'feature.guard.enabled': false, 'security.acl.enabled': false };
    await set({ ...off, 'security.acl.enabled': true });
    const { body: list } = await send<Warned>('POST', '/access-lists', { name: 'warned', type: 'deny' });
    const unused = { field: 'enabled', message: 'guards nothing: no proxy host has it as access_list_id' };
    expect(list.warnings).toEqual([unused]);
    await create({ access_list_id: list.id });
    const suite = 'is not enforced: the security suite is switched off';
    const ofList = async () => (await send<Warned>('GET', `/access-lists/${list.id}`)).body.warnings;
    expect(await ofList()).toEqual([{ field: 'enabled', message: suite }]);
    const { body } = await send<{ decision: Warned }>('POST', '/security/decisions', {
      ip: '203.0.113.9',
      action: 'block',
    });
    const { decision } = body;
    expect(decision.warnings).toEqual([{ field: 'action', message: suite }]);
    await set({ 'feature.guard.enabled': true, 'security.acl.enabled': false });
    const module = 'is not enforced: access lists are switched off (security.acl.enabled)';
    expect(await ofList()).toEqual([{ field: 'enabled', message: module }]);
    const bans = async () => (await send<{ decisions: Warned[] }>('GET', '/security/decisions')).body.decisions;
    expect((await bans()).map(({ warnings }) => warnings)).toEqual([[]]);
    await set({ 'security.acl.enabled': true });
    const { body: lists } = await send<Warned[]>('GET', '/access-lists');
    expect(lists.find(({ id }) => id === list.id)?.warnings).toEqual([]);
    // Whether it is enforced is no reason to refuse a change of it.
    const { headers } = await app.send('GET', `/access-lists/${list.id}`, undefined, admin);
    await set({ 'security.acl.enabled': false });
    const match = { ...admin, 'if-match': headers.get('etag') ?? '' };
    const put = await app.send<Warned>('PUT', `/access-lists/${list.id}`, { enabled: false }, match);
    // It is meant to do nothing now.
    expect(put).toMatchObject({ status: 200, body: { warnings: [] } });
    expect((await send('DELETE', `/security/decisions/${decision.uuid}`)).status).toBe(204);
  });

  test('says which names the chosen certificate does not cover', async () => {
    const { id } = await certify('*.chosen.example.com', 'chosen.example.com');
    const good = await create({ domain: 'a.chosen.example.com,chosen.example.com', certificate_id: id });
    expect(good.warnings).toEqual([]);
    const bad = await create({ domain: 'b.chosen.example.com,x.y.chosen.example.com', certificate_id: id });
    expect(bad.warnings).toEqual([
      { field: 'certificate_id', message: expect.stringMatching(/does not cover x\.y\.chosen\.example\.com$/) },
    ]);
  });

  test('says that there is no certificate to force TLS with, until there is one', async () => {
    const host = await create({ domain: 'forced.example.com,*.forced.example.com', ssl_forced: true });
    const message = /^no certificate covers forced\.example\.com, \*\.forced\.example\.com: browsers get/;
    expect(host.warnings).toEqual([{ field: 'ssl_forced', message: expect.stringMatching(message) }]);
    const { id } = await certify('forced.example.com', '*.forced.example.com');
    expect(await read(host)).toEqual([]);
    await send('DELETE', `/proxy-hosts/${host.uuid}`);
    expect((await send('DELETE', `/certificates/${id}`)).status).toBe(200);
    const again = await create({ domain: 'forced.example.com', hsts_enabled: true });
    expect(again.warnings).toMatchObject([{ field: 'hsts_enabled' }]);
  });

  test('says which fields have no effect without another', async () => {
    const host = await create({ hsts_subdomains: true, waf_inspect_responses: true, forward_verify_tls: true });
    expect(host.warnings.map(({ field }) => field)).toEqual([
      'hsts_subdomains',
      'waf_inspect_responses',
      'forward_verify_tls',
    ]);
  });

  test('says that WebSocket is off once somebody wanted it', async () => {
    const host = await create();
    const line = {
      time: new Date().toISOString(),
      client: '192.0.2.1',
      reference: `upgrade-${host.uuid}`,
      status: 403,
      refused: 'websocket',
      host: host.domain,
      host_id: String(host.id),
      method: 'GET',
      uri: '/ws',
    };
    const socket = connect(join(app.dataDir, 'run', 'log.sock'));
    await once(socket, 'connect');
    socket.end(`${JSON.stringify(line)}\n`);
    await expect
      .poll(() => read(host))
      .toEqual([
        { field: 'websocket_support', message: expect.stringContaining('a WebSocket upgrade was refused on 20') },
      ]);
    await send('PUT', `/proxy-hosts/${host.uuid}`, { websocket_support: true });
    expect(await read(host)).toEqual([]);
  });
});
