import type { AccessList, Applied, ErrorBody, ImportOutcome, ImportPreview, ProxyHost } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { startApp, type TestApp } from '../../../testing/start-app.ts';

let app: TestApp;
let admin: Caller;
beforeAll(async () => {
  app = await startApp('sqlite');
  admin = await createGiven(app).administrator();
});
afterAll(() => app.stop());

const send = async <T>(method: string, path: string, body?: object): Promise<T> => {
  const answer = await app.send<T>(method, path, body, admin.headers);
  expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
  return answer.body;
};
const hosts = async () => {
  const all = await send<ProxyHost[]>('GET', '/proxy-hosts?sort=domain');
  const lists = await send<AccessList[]>('GET', '/access-lists');
  return all.map(({ id, uuid, created_at, updated_at, access_list_id, warnings, issue, ...host }) => ({
    ...host,
    access_list: lists.find((list) => list.id === access_list_id)?.name,
  }));
};
const upload = async (content: string, filename: string): Promise<ImportPreview> => {
  await send('POST', '/import/upload', { content, filename });
  return send<ImportPreview>('GET', '/import/preview');
};
const emptied = () => send<Applied>('POST', '/apply?prune=true', { sallyport: 1, proxy_hosts: [], access_lists: [] });

test('an export is imported like any other configuration: hosts, their access lists, and what else there is as a warning', async () => {
  await send('POST', '/security/config', { admin_whitelist: '127.0.0.1' });
  for (const key of ['feature.guard.enabled', 'security.acl.enabled']) {
    await send('POST', '/settings', { key, value: 'true' });
  }
  const list = await send<AccessList>('POST', '/access-lists', {
    name: 'office',
    type: 'allow',
    rules: [{ cidr: '10.0.0.0/8' }],
  });
  const origin = { forward_host: '127.0.0.1', forward_port: 9 };
  await send('POST', '/proxy-hosts', {
    ...origin,
    ...{ domain: 'a.example.com,b.example.com', name: 'first', access_list_id: list.id, websocket_support: true },
    ...{ waf_inspect_responses: true, waf_allowed_methods: 'GET', waf_body_limit: 4_096 },
  });
  await send('POST', '/proxy-hosts', { ...origin, domain: 'c.example.com', enabled: false, forward_scheme: 'https' });
  const before = await hosts();
  const documents = {
    'sallyport.yaml': await send<string>('GET', '/export'),
    'sallyport.json': JSON.stringify(await send<object>('GET', '/export?format=json'), null, 2),
  };
  for (const [filename, content] of Object.entries(documents)) {
    await emptied();
    expect(await hosts()).toEqual([]);
    const { session, errors, warnings, ...shown } = await upload(content, filename);
    expect(session).toMatchObject({ state: 'reviewing', source: 'sallyport' });
    expect(errors).toEqual([]);
    expect(warnings).toMatchObject([
      { message: `not taken over: settings, security; "sallyport apply ${filename}" makes all of it so` },
    ]);
    expect(shown.hosts.map(({ domain, line }) => `${domain} ${line}`)).toEqual(
      ['a.example.com,b.example.com', 'c.example.com'].map(
        (domain) => `${domain} ${content.split('\n').findIndex((line) => line.includes(domain)) + 1}`,
      ),
    );
    const done = await send<ImportOutcome>('POST', '/import/commit', { session_uuid: session.uuid });
    expect(done).toMatchObject({ imported: 2, failed: 0 });
    expect(await hosts()).toEqual(before);
  }

  // The same again: every name is taken, and nothing would be different.
  const again = await upload(documents['sallyport.yaml'], 'sallyport.yaml');
  expect(again.conflicts).toEqual(['a.example.com', 'b.example.com', 'c.example.com']);
  expect(again.hosts.flatMap(({ changes }) => changes)).toEqual([]);
  const commit = { session_uuid: again.session.uuid };
  const refused = await app.send<ErrorBody>('POST', '/import/commit', commit, admin.headers);
  expect(refused.body.details).toContain('conflicts without a resolution');
});
