import type {
  AccessList,
  Certificate,
  Decision,
  ErrorBody,
  HistoryEntry,
  ProxyHost,
  RemoteServer,
  Ruleset,
} from '@sallyport/contract';
import { openVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../../test/support/certificates.ts';
import { fromOutside } from '../../testing/given-accounts.ts';
import { givenHistory } from '../../testing/given-history.ts';
import { onBothDatabases } from '../../testing/start-app.ts';

const HOST = { domain: 'one.example.com', forward_host: '192.0.2.1', forward_port: 80 };
const RULES = 'SecRule ARGS "@contains a" "id:100001,phase:2,deny"';

onBothDatabases('taking a change back', (kind) => {
  const { here, send, call } = givenHistory(kind);
  /** The newest change of an object. */
  const newest = async (resource: string): Promise<HistoryEntry> => {
    const [entry] = await call<HistoryEntry[]>('GET', `/history?resource=${resource}&per_page=1`);
    if (!entry) throw new Error(`no history of ${resource}`);
    return entry;
  };
  const revert = (entry: { id: number }, headers = here().admin.headers) =>
    send<Record<string, unknown> & ErrorBody>('POST', `/history/${entry.id}/revert`, undefined, headers);
  const newHost = (more: object = {}) => call<ProxyHost>('POST', '/proxy-hosts', { ...HOST, ...more });

  test('gives a host back the fields that were changed, and no others', async () => {
    const { uuid } = await newHost();
    await call('PUT', `/proxy-hosts/${uuid}`, { forward_port: 81, websocket_support: true });
    const change = await newest(`proxy-hosts/${uuid}`);
    await call('PUT', `/proxy-hosts/${uuid}`, { name: 'kept' });
    const answer = await revert(change);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('etag')).toMatch(/^"/);
    expect(answer.body).toMatchObject({ uuid, forward_port: 80, websocket_support: false, name: 'kept' });
    const taken = await newest(`proxy-hosts/${uuid}`);
    expect(taken).toMatchObject({ action: 'proxy_host.update', actor: 'admin@example.com', reverts: change.id });
    // What was taken back can be taken back.
    expect((await revert(taken)).body).toMatchObject({ forward_port: 81, websocket_support: true, name: 'kept' });
    const [entry] = await call<{ path: string; resource: string }[]>('GET', '/audit-logs?limit=1');
    expect(entry).toMatchObject({ path: `/api/v1/history/${taken.id}/revert`, resource: `proxy-hosts/${uuid}` });
  });

  test('says who changed the same since, and overwrites nothing', async () => {
    const { uuid } = await newHost();
    const made = await newest(`proxy-hosts/${uuid}`);
    await call('PUT', `/proxy-hosts/${uuid}`, { forward_port: 81 });
    const change = await newest(`proxy-hosts/${uuid}`);
    const user = await here().caller();
    await call('PUT', `/proxy-hosts/${uuid}`, { forward_port: 82 }, user.headers);
    const later = await newest(`proxy-hosts/${uuid}`);
    const refused = await revert(change);
    expect(refused.status).toBe(409);
    expect(refused.body.details).toContain('It has been changed since: forward_port');
    expect(refused.body.details).toContain(`by ${user.user.email} at ${later.created_at} (change ${later.id})`);
    expect((await revert(change, (await here().caller()).headers)).body.details).toContain('by another user at');
    expect((await revert(made)).status).toBe(409);
    expect(await call('GET', `/proxy-hosts/${uuid}`)).toMatchObject({ forward_port: 82 });
    await call('PUT', `/proxy-hosts/${uuid}`, { forward_port: 80 });
    expect((await revert(change)).body.details).toContain('as it was before this change already');
    await call('DELETE', `/proxy-hosts/${uuid}`);
    expect((await revert(change)).body.details).toContain('deleted since');
    expect((await revert({ id: 999 })).status).toBe(404);
    expect((await send('POST', '/history/x/revert')).status).toBe(400);
  });

  test('a host that was made goes; one that was deleted is the same again', async () => {
    const host = await newHost();
    await call('DELETE', `/proxy-hosts/${host.uuid}`);
    const deletion = await newest(`proxy-hosts/${host.uuid}`);
    const back = await revert(deletion);
    // What the proxy makes of it takes its time.
    const { updated_at, applied, issue, warnings, ...same } = host;
    expect(back).toMatchObject({ status: 200, body: same });
    expect((await revert(deletion)).body.details).toContain('there again');
    expect((await revert(await newest(`proxy-hosts/${host.uuid}`))).status).toBe(204);
    expect((await send('GET', `/proxy-hosts/${host.uuid}`)).status).toBe(404);
    // The next one gets a number of its own.
    expect((await newHost()).id).toBeGreaterThan(host.id);
    const taken = await revert(deletion);
    expect(taken.status).toBe(409);
    expect(taken.body.details).toMatch(/domain one\.example\.com already belongs to proxy host/);
  });

  test('a host does not come back without what it referred to, and finds it when that came back before', async () => {
    const list = await call<AccessList>('POST', '/access-lists', { name: 'office', type: 'allow' });
    const host = await newHost({ access_list_id: list.id });
    await call('DELETE', `/proxy-hosts/${host.uuid}`);
    const deletion = await newest(`proxy-hosts/${host.uuid}`);
    await call('DELETE', `/access-lists/${list.id}`);
    await call('POST', '/access-lists', { name: 'other', type: 'deny' });
    const refused = await revert(deletion);
    expect(refused.status).toBe(409);
    expect(refused.body.details).toContain('access_list_id names no access list');
    expect((await revert(await newest(`access-lists/${list.uuid}`))).body).toMatchObject({
      id: list.id,
      uuid: list.uuid,
    });
    expect((await revert(deletion)).body).toMatchObject({ uuid: host.uuid, access_list_id: list.id });
    const inUse = await call<HistoryEntry[]>('GET', `/history?resource=access-lists/${list.uuid}`);
    const gone = await revert({ id: inUse[0]?.id ?? 0 });
    expect(gone.status).toBe(409);
    expect(gone.body.details).toContain('in use by one or more proxy hosts');
  });

  test('every kind of object goes back', async () => {
    const server = await call<RemoteServer>('POST', '/remote-servers', { name: 'box', host: '192.0.2.2', port: 80 });
    await call('PUT', `/remote-servers/${server.uuid}`, { port: 81 });
    expect((await revert(await newest(`remote-servers/${server.uuid}`))).body).toMatchObject({ port: 80 });
    await call('DELETE', `/remote-servers/${server.uuid}`);
    const back = await revert(await newest(`remote-servers/${server.uuid}`));
    expect(back.body).toMatchObject({ id: server.id, uuid: server.uuid, created_at: server.created_at });

    const list = await call<AccessList>('POST', '/access-lists', { name: 'office', type: 'allow' });
    await call('PUT', `/access-lists/${list.id}`, { rules: [{ cidr: '192.0.2.0/24' }], enabled: false });
    expect((await revert(await newest(`access-lists/${list.uuid}`))).body).toMatchObject({ rules: [], enabled: true });

    const long = Array.from({ length: 300 }, (_, n) => RULES.replace('100001', String(100_001 + n))).join('\n');
    const save = (content: string) =>
      call<{ ruleset: Ruleset }>('POST', '/security/rulesets', { name: 'own', mode: 'custom', content });
    await save(long);
    const { ruleset } = await save(RULES);
    expect((await revert(await newest(`security/rulesets/${ruleset.uuid}`))).body).toMatchObject({
      content: long,
      rule_count: 300,
    });
    await call('DELETE', `/security/rulesets/${ruleset.id}`);
    const rules = await revert(await newest(`security/rulesets/${ruleset.uuid}`));
    expect(rules.body).toMatchObject({ uuid: ruleset.uuid, content: long });
    expect((await revert(await newest(`security/rulesets/${ruleset.uuid}`))).status).toBe(204);

    await call('POST', '/security/config', { waf_paranoia_level: 2, waf_mode: 'monitor' });
    await call('POST', '/security/exclusions', { rule_id: 942_100 });
    const config = await revert(await newest('security/config'));
    expect(config.body).toMatchObject({ waf_exclusions: [], waf_paranoia_level: 2 });

    await call('POST', '/settings', { key: 'security.waf.enabled', value: 'true' });
    const setting = await newest('settings/security.waf.enabled');
    expect((await revert(setting)).body).toMatchObject({ key: 'security.waf.enabled', value: 'false', is_set: false });
    expect((await revert(await newest('settings/security.waf.enabled'))).body).toMatchObject({ value: 'true' });
  });

  test('a ban goes back, and so does its end', async () => {
    const ban = { ip: '198.51.100.9', action: 'block', details: 'test' };
    const { decision } = await call<{ decision: Decision }>('POST', '/security/decisions', ban);
    await call('DELETE', `/security/decisions/${decision.id}`);
    const back = await revert(await newest(`security/decisions/${decision.uuid}`));
    expect(back.body).toMatchObject({ id: decision.id, uuid: decision.uuid, ip: ban.ip, source: 'manual' });
    expect((await revert(await newest(`security/decisions/${decision.uuid}`))).status).toBe(204);
    expect((await send('GET', `/security/decisions/${decision.id}`)).status).toBe(404);
  });

  test('secrets come back: a mail password and the key of a certificate', async () => {
    const vault = openVault(here().app.config);
    const sealed = async () =>
      (
        await here().database.kysely.selectFrom('settings').select('value').where('key', '=', 'smtp.password').execute()
      )[0]?.value;
    await call('POST', '/settings', { key: 'smtp.password', value: 'first-secret' });
    await call('POST', '/settings', { key: 'smtp.password', value: 'second-secret' });
    const answer = await revert(await newest('settings/smtp.password'));
    expect(answer).toMatchObject({ status: 200, body: { value: '', is_set: true } });
    expect(vault.open((await sealed()) ?? '', 'setting:smtp.password')).toBe('first-secret');

    const pair = makeCertificate(['site.example.com']);
    const certificate = await call<Certificate>('POST', '/certificates/upload', uploadForm('site', pair));
    const stored = () => here().database.kysely.selectFrom('certificates').selectAll().executeTakeFirstOrThrow();
    const before = await stored();
    await call('DELETE', `/certificates/${certificate.id}`);
    const deletion = await newest(`certificates/${certificate.uuid}`);
    expect((await revert(deletion)).body).toMatchObject({ id: certificate.id, uuid: certificate.uuid, name: 'site' });
    const after = await stored();
    const { key_sealed, ...rest } = before;
    expect(after).toMatchObject(rest);
    const context = `certificate:${certificate.uuid}`;
    expect(vault.open(after.key_sealed, context)).toBe(vault.open(key_sealed, context));
    expect((await revert(await newest(`certificates/${certificate.uuid}`))).status).toBe(204);

    await here()
      .database.kysely.updateTable('history')
      .set({ secrets_sealed: 'v1.00000000.gone' })
      .where('id', '=', deletion.id)
      .execute();
    const lost = await revert(deletion);
    expect(lost.status).toBe(409);
    expect(lost.body.error).toContain('sealed with a key that is not there any more');
  });

  test('a bulk call goes back in one step, or not at all', async () => {
    const uuids: string[] = [];
    for (const n of [1, 2, 3]) uuids.push((await newHost({ domain: `h${n}.example.com` })).uuid);
    await call('POST', '/proxy-hosts/bulk', { uuids, patch: { enabled: false } });
    const { batch } = await newest('proxy-hosts');
    const undo = (headers = here().admin.headers) =>
      send<ErrorBody>('POST', `/history/batches/${batch}/revert`, undefined, headers);
    const states = async () => (await call<ProxyHost[]>('GET', '/proxy-hosts')).map(({ enabled }) => enabled);
    await call('PUT', `/proxy-hosts/${uuids[1]}`, { enabled: true });
    expect((await undo()).status).toBe(409);
    expect(await states()).toEqual([false, true, false]);
    await call('PUT', `/proxy-hosts/${uuids[1]}`, { enabled: false });
    expect(await undo()).toMatchObject({
      status: 200,
      body: { reverted: expect.arrayContaining(uuids.map((uuid) => `proxy-hosts/${uuid}`)) },
    });
    expect(await states()).toEqual([true, true, true]);

    await call('POST', '/proxy-hosts/bulk-delete', { uuids });
    expect(await states()).toEqual([]);
    await call('POST', `/history/batches/${(await newest('proxy-hosts')).batch}/revert`);
    expect((await call<ProxyHost[]>('GET', '/proxy-hosts')).map(({ uuid }) => uuid).sort()).toEqual([...uuids].sort());
    expect((await send('POST', '/history/batches/x/revert')).status).toBe(400);
    expect((await send('POST', `/history/batches/${uuids[0]}/revert`)).status).toBe(404);
  });

  test('takes the rights that the change itself would', async () => {
    const { uuid } = await newHost({ waf_enabled: false });
    await call('PUT', `/proxy-hosts/${uuid}`, { waf_enabled: true, name: 'safe' });
    const weaker = await newest(`proxy-hosts/${uuid}`);
    await call('PUT', `/proxy-hosts/${uuid}`, { forward_port: 81 });
    const route = await newest(`proxy-hosts/${uuid}`);
    const list = await call<AccessList>('POST', '/access-lists', { name: 'office', type: 'allow' });
    const user = await here().caller();
    expect((await revert(weaker, user.headers)).status).toBe(403);
    expect((await revert(await newest(`access-lists/${list.uuid}`), user.headers)).status).toBe(403);
    expect((await revert(route, user.headers)).status).toBe(200);
    expect((await revert(route, fromOutside())).status).toBe(401);

    await call('POST', '/security/config', { admin_whitelist: '127.0.0.1' });
    await call('POST', '/security/enable', {});
    const enabling = await newest('settings/feature.guard.enabled');
    expect((await revert(enabling, user.headers)).status).toBe(403);
    // From elsewhere switching off takes a break-glass token, and so does taking the switching on back.
    expect((await revert(enabling, { ...here().admin.headers, ...fromOutside() })).status).toBe(403);
    // Without credentials settings are nobody's.
    expect((await revert(enabling, {})).status).toBe(403);
    expect((await revert(enabling)).status).toBe(200);
    const disabling = await newest('settings/feature.guard.enabled');
    await call('POST', '/security/config', { admin_whitelist: '' });
    const lockOut = await revert(disabling);
    expect(lockOut.status).toBe(409);
    expect(lockOut.body.details).toContain('could lock you out');

    const { token } = await here().apiToken(here().admin, 'admin');
    await call('POST', '/settings', { key: 'app.public_url', value: 'https://one.example.com' });
    const address = await newest('settings/app.public_url');
    expect((await revert(address, { authorization: `Bearer ${token}` })).status).toBe(403);
    expect((await revert(address)).status).toBe(200);
  });
});
