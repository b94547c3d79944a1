import type { AccessList, HistoryEntry, ProxyHost, Ruleset } from '@sallyport/contract';
import { pruneHistory } from '@sallyport/store/history/prune';
import { historyStore } from '@sallyport/store/history/store';
import { expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../../test/support/certificates.ts';
import { fromOutside } from '../../testing/given-accounts.ts';
import { givenHistory } from '../../testing/given-history.ts';
import { onBothDatabases } from '../../testing/start-app.ts';

const HOST = { domain: 'one.example.com', forward_host: '192.0.2.1', forward_port: 80 };

onBothDatabases('the history', (kind) => {
  let now = Date.parse('2026-03-01T12:00:00.000Z');
  const { here, send, call } = givenHistory(kind, {}, { clock: () => new Date(now) });
  const historyOf = (path: string, headers = here().admin.headers) =>
    call<HistoryEntry[]>('GET', `${path}/history`, undefined, headers);

  test('tells what each change of a host made different, and by whom', async () => {
    const host = await call<ProxyHost>('POST', '/proxy-hosts', HOST);
    now += 1_000;
    await call('PUT', `/proxy-hosts/${host.uuid}`, { forward_port: 81, name: 'first' });
    await call('PUT', `/proxy-hosts/${host.uuid}`, { forward_port: 81 });
    const told = await call<HistoryEntry[]>('GET', '/history');
    expect(told.map(({ name }) => name)).toEqual([HOST.domain, HOST.domain]);
    await call('DELETE', `/proxy-hosts/${host.uuid}`);
    const [deleted, changed, made, ...rest] = await historyOf(`/proxy-hosts/${host.uuid}`);
    expect(rest).toEqual([]);
    const resource = `proxy-hosts/${host.uuid}`;
    expect(changed).toEqual({
      id: expect.any(Number),
      batch: expect.stringMatching(/^[0-9a-f-]{36}$/),
      batch_size: 1,
      resource,
      name: null,
      action: 'proxy_host.update',
      actor: 'admin@example.com',
      created_at: new Date(now).toISOString(),
      reverts: null,
      changes: expect.arrayContaining([
        { field: 'forward_port', before: 80, after: 81 },
        { field: 'name', before: '', after: 'first' },
      ]),
    });
    expect(changed?.changes).toHaveLength(2);
    expect(made?.changes).toContainEqual({ field: 'domain', before: null, after: HOST.domain });
    expect(deleted?.changes).toContainEqual({ field: 'domain', before: HOST.domain, after: null });
    const all = await call<HistoryEntry[]>('GET', '/history?per_page=2');
    expect(all.map(({ id }) => id)).toEqual([deleted?.id, changed?.id]);
    const paged = await send<HistoryEntry[]>('GET', '/history?per_page=2&page=2');
    expect(paged.body.map(({ id }) => id)).toEqual([made?.id]);
    expect(paged.headers.get('x-total-count')).toBe('3');
    expect(await call<HistoryEntry[]>('GET', `/history?resource=${resource}&order=asc`)).toHaveLength(3);
    expect(await call<HistoryEntry[]>('GET', '/history?resource=proxy-hosts')).toHaveLength(3);
    for (const other of ['proxy', 'PROXY-HOSTS', 'proxy_hosts', 'proxy%25', 'proxy-hosts%5C'])
      expect(await call<HistoryEntry[]>('GET', `/history?resource=${other}`), other).toEqual([]);
  });

  test('keeps every kind of object', async () => {
    const server = await call<{ id: number; uuid: string }>('POST', '/remote-servers', {
      name: 'box',
      host: '192.0.2.2',
      port: 80,
    });
    await call('PUT', `/remote-servers/${server.uuid}`, { port: 81 });
    const list = await call<AccessList>('POST', '/access-lists', { name: 'office', type: 'allow' });
    await call('PUT', `/access-lists/${list.id}`, { rules: [{ cidr: '192.0.2.0/24' }] });
    const { ruleset } = await call<{ ruleset: Ruleset }>('POST', '/security/rulesets', {
      name: 'own',
      mode: 'custom',
      content: 'SecRule ARGS "@contains a" "id:100001,phase:2,deny"',
    });
    await call('POST', '/security/config', { waf_paranoia_level: 2 });
    await call('POST', '/security/exclusions', { rule_id: 942_100 });
    await call('POST', '/settings', { key: 'security.waf.enabled', value: 'true' });
    await call('DELETE', '/settings/security.waf.enabled');
    const form = uploadForm('site', makeCertificate(['site.example.com']));
    const certificate = await call<{ id: number }>('POST', '/certificates/upload', form);

    const fields = async (path: string) =>
      (await historyOf(path)).map(({ changes }) => changes.map(({ field }) => field));
    expect((await fields(`/remote-servers/${server.id}`))[0]).toEqual(['port']);
    expect((await fields(`/access-lists/${list.id}`))[0]).toEqual(['rules']);
    expect(await fields(`/access-lists/${list.uuid}`)).toHaveLength(2);
    expect((await fields(`/security/rulesets/${ruleset.id}`))[0]).toContain('content');
    expect(await fields('/security/config')).toEqual([['waf_exclusions'], ['waf_paranoia_level']]);
    expect((await historyOf('/settings/security.waf.enabled')).map(({ changes }) => changes)).toEqual([
      [{ field: 'value', before: 'true', after: null }],
      [{ field: 'value', before: null, after: 'true' }],
    ]);
    expect((await fields(`/certificates/${certificate.id}`))[0]).toContain('domains');
    for (const path of ['/access-lists/999', `/proxy-hosts/${list.uuid}`, '/settings/security.waf.enabeld']) {
      expect((await send('GET', `${path}/history`)).status).toBe(404);
    }
  });

  test('the master switch has one history, by whatever way it was switched', async () => {
    await call('POST', '/security/config', { admin_whitelist: '127.0.0.1' });
    await call('POST', '/security/enable', {});
    await call('POST', '/security/config', { enabled: false });
    await call('POST', '/settings', { key: 'feature.guard.enabled', value: 'true' });
    const values = (await historyOf('/settings/feature.guard.enabled')).map(({ changes }) => changes[0]?.after);
    expect(values).toEqual(['true', 'false', 'true']);
  });

  test('what one request changed is one batch', async () => {
    const uuids: string[] = [];
    for (const n of [1, 2, 3]) {
      const host = await call<ProxyHost>('POST', '/proxy-hosts', { ...HOST, domain: `h${n}.example.com` });
      uuids.push(host.uuid);
    }
    const { headers } = await send('POST', '/proxy-hosts/bulk', { uuids, patch: { enabled: false } });
    const batches = (await call<HistoryEntry[]>('GET', '/history')).map(({ batch }) => batch);
    expect(new Set(batches.slice(0, 3))).toEqual(new Set([headers.get('x-sallyport-batch')]));
    expect(new Set(batches).size).toBe(4);
    // Also where only one of them is on the page.
    expect(await call<HistoryEntry[]>('GET', '/history?per_page=1')).toMatchObject([{ batch_size: 3 }]);
  });

  test('secrets are sealed in the store, and shown nowhere', async () => {
    await call('POST', '/settings', { key: 'smtp.password', value: 'first-secret' });
    await call('POST', '/settings', { key: 'smtp.password', value: 'second-secret' });
    const pair = makeCertificate(['site.example.com']);
    const certificate = await call<{ id: number }>('POST', '/certificates/upload', uploadForm('site', pair));
    await call('DELETE', `/certificates/${certificate.id}`);
    const shown = JSON.stringify(await call('GET', '/history'));
    const rows = JSON.stringify(await here().database.kysely.selectFrom('history').selectAll().execute());
    for (const text of [shown, rows]) {
      expect(text).not.toMatch(/first-secret|second-secret|PRIVATE KEY/);
      expect(text).not.toContain(pair.key.split('\n')[2]);
    }
    expect(rows).toMatch(/"secrets_sealed":"v1\./);
    expect(shown).not.toMatch(/v1\.[0-9a-f]{8}\./);
    const [second] = await historyOf('/settings/smtp.password');
    expect(second?.changes).toEqual([{ field: 'value', before: '***', after: '***' }]);
  });

  test('a standard user sees what they could read anyway', async () => {
    const host = await call<ProxyHost>('POST', '/proxy-hosts', HOST);
    await call('POST', '/settings', { key: 'smtp.host', value: 'mail.example.com' });
    await call('POST', '/security/config', { webhook_url: 'https://8.8.8.8/chat-credential' });
    const url = 'https://dns-of-ours.example.com/';
    const provider = await call<{ id: number; uuid: string }>('POST', '/dns-providers', {
      name: 'dns-of-ours',
      type: 'webhook',
      fields: { url },
    });
    const user = await here().caller();
    await call('PUT', `/proxy-hosts/${host.uuid}`, { name: 'mine' }, user.headers);
    const seen = await call<HistoryEntry[]>('GET', '/history', undefined, user.headers);
    expect(seen.map(({ actor, resource }) => [actor, resource])).toEqual([
      [user.user.email, `proxy-hosts/${host.uuid}`],
      ['another user', 'security/config'],
      ['another user', `proxy-hosts/${host.uuid}`],
    ]);
    expect(JSON.stringify(seen)).not.toMatch(/chat-credential|admin@example|mail\.example|dns-of-ours/);
    expect(await historyOf(`/dns-providers/${provider.id}`)).toHaveLength(1);
    expect((await send('GET', `/dns-providers/${provider.id}/history`, undefined, user.headers)).status).toBe(403);
    expect(await call('GET', `/history?resource=dns-providers/${provider.uuid}`, undefined, user.headers)).toEqual([]);
    for (const path of ['/settings/history', '/settings/smtp.host/history', '/history?resource=settings/smtp.host']) {
      expect((await send('GET', path, undefined, user.headers)).status).toBe(403);
    }
    expect(await call('GET', '/history?resource=SETTINGS', undefined, user.headers)).toEqual([]);
    expect((await send('GET', '/history', undefined, fromOutside())).status).toBe(401);
  });

  test('a long text is told by its beginning, and kept once', async () => {
    const rules = (word: string) =>
      Array.from({ length: 200 }, (_, n) => `SecRule ARGS "@contains ${word}" "id:${100_001 + n},phase:2,deny"`);
    const save = (word: string) =>
      call<{ ruleset: Ruleset }>('POST', '/security/rulesets', {
        name: 'long',
        mode: 'custom',
        content: rules(word).join('\n'),
      });
    await save('old');
    const { id } = (await save('new')).ruleset;
    const [changed] = await historyOf(`/security/rulesets/${id}`);
    const content = changed?.changes.find(({ field }) => field === 'content');
    expect(content?.before).toMatch(/^SecRule ARGS "@contains old".*… \(\d+ characters\)$/s);
    expect(content?.after).toMatch(/^SecRule ARGS "@contains new".*… \(\d+ characters\)/s);
    const [row] = await here().database.kysely.selectFrom('history').selectAll().orderBy('id', 'desc').execute();
    expect(row?.before_state).toContain('id:100200');
    expect(row?.after_state).not.toContain('id:100200');
  });

  test('goes by age and by room, the oldest first', async () => {
    // As who is on this host: a session would end meanwhile.
    const host = await call<ProxyHost>('POST', '/proxy-hosts', HOST, {});
    for (let n = 0; n < 9; n += 1) {
      now += 86_400_000;
      await call('PUT', `/proxy-hosts/${host.uuid}`, { name: `m${n}` }, {});
    }
    now += 86_400_000;
    const left = async () =>
      (await historyOf(`/proxy-hosts/${host.uuid}`, {})).map(({ changes }) => changes[0]?.after).reverse();
    const prune = (days: number, bytes: number) => pruneHistory(here().database.kysely, new Date(now), { days, bytes });
    expect(await prune(0, 1e6)).toBe(0);
    expect(await prune(4, 1e6)).toBe(6);
    expect(await left()).toEqual(['m5', 'm6', 'm7', 'm8']);
    const [row] = await here().database.kysely.selectFrom('history').select('bytes').execute();
    expect(await prune(0, 2 * (row?.bytes ?? 0))).toBe(2);
    expect(await left()).toEqual(['m7', 'm8']);
    expect(await prune(0, 0)).toBe(2);
  });

  test('never reads many large changes at once, however many a page shows', async () => {
    await here()
      .database.kysely.insertInto('history')
      .values(
        Array.from({ length: 20 }, (_, index) => ({
          batch: crypto.randomUUID(),
          resource: `security/rulesets/${crypto.randomUUID()}`,
          action: 'ruleset.delete',
          actor: 'somebody',
          created_at: '2026-03-01T12:00:00.000Z',
          reverts: null,
          bytes: 500_000,
          before_state: JSON.stringify({ name: `r${index}`, content: 'x'.repeat(500_000) }),
          after_state: null,
          secrets_sealed: null,
        })),
      )
      .execute();
    let largest = 0;
    const watched = here().database.kysely.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        largest = Math.max(largest, JSON.stringify(result.rows).length);
        return result;
      },
    });
    const { rows } = await historyStore(watched).list({}, ({ before_state }) => before_state?.length);
    expect(rows).toHaveLength(20);
    expect(Math.min(...rows.map((length) => length ?? 0))).toBeGreaterThan(500_000);
    expect(largest).toBeLessThan(1_000_000);
    const shown = await call<HistoryEntry[]>('GET', '/history?search=ruleset.delete');
    expect(shown.map(({ changes }) => changes.find(({ field }) => field === 'name')?.before)).toContain('r7');
  });
});
