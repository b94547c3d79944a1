import { DatabaseSync } from 'node:sqlite';
import type {
  AccessList,
  ErrorBody,
  ImportOutcome,
  ImportPreview,
  ImportSession,
  ProxyHost,
} from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

/** A database of Nginx Proxy Manager, as far as an import looks at it. */
const managerDatabase = (cidr: string): string => {
  const database = new DatabaseSync(':memory:');
  database.exec(`
    create table proxy_host (id integer primary key, domain_names json, forward_scheme text default 'http', forward_host text,
      forward_port integer, access_list_id integer default 0, certificate_id integer default 0);
    create table access_list (id integer primary key, name text);
    create table access_list_client (id integer primary key, access_list_id integer, address text, directive text);
    insert into access_list values (1, 'home'), (2, 'unused');
    insert into access_list_client (access_list_id, address, directive) values (1, '${cidr}', 'allow'), (2, '10.0.0.1', 'allow');
    insert into proxy_host (domain_names, forward_host, forward_port, access_list_id) values
      ('["listed.example.com"]', '127.0.0.1', 3001, 1), ('["open.example.com"]', '127.0.0.1', 3002, 0)`);
  const bytes = Buffer.from(database.serialize());
  database.close();
  return bytes.toString('base64');
};

onBothDatabases('importing a database', (kind) => {
  let app: TestApp;
  let admin: Caller;
  beforeAll(async () => {
    app = await startApp(kind, { SALLYPORT_SESSION_SECRET: 's'.repeat(32) });
    admin = await createGiven(app).administrator();
  });
  afterAll(async () => app.stop());

  const upload = async (cidr: string): Promise<ImportPreview> => {
    const body = { content: managerDatabase(cidr), encoding: 'base64', filename: 'database.sqlite' };
    const answer = await app.send<{ session: ImportSession }>('POST', '/import/upload', body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return (await app.send<ImportPreview>('GET', '/import/preview')).body;
  };
  const commit = async ({ session, conflicts }: ImportPreview): Promise<ImportOutcome> => {
    const resolutions = Object.fromEntries(conflicts.map((name) => [name, 'overwrite']));
    const answer = await app.send<ImportOutcome>('POST', '/import/commit', { session_uuid: session.uuid, resolutions });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  const listed = async () => {
    const { body: hosts } = await app.send<ProxyHost[]>('GET', '/proxy-hosts?sort=domain');
    const { body: lists } = await app.send<AccessList[]>('GET', '/access-lists?sort=name');
    const nameOf = (id: number | null) => lists.find((list) => list.id === id)?.name ?? null;
    return {
      hosts: hosts.map(({ domain, enabled, access_list_id }) => [domain, enabled, nameOf(access_list_id)]),
      lists: lists.map(({ name, type, rules }) => [name, type, ...rules.map(({ cidr }) => cidr)]),
    };
  };

  test('brings hosts with their access lists, which are found again, and goes back in one step', async () => {
    const shown = await upload('10.0.0.0/8');
    expect(shown).toMatchObject({
      session: { source: 'nginx-proxy-manager', state: 'reviewing' },
      hosts: [
        { domain: 'listed.example.com', access_list: 'home', file: 'database.sqlite: proxy_host', line: 1 },
        { domain: 'open.example.com', access_list: null, line: 2 },
      ],
    });
    // Access lists act only when they are switched on: until then nobody would be kept out.
    expect(shown.hosts[0]?.warnings[0]?.message).toContain('imported switched off');
    const { imported, failed, batch } = await commit(shown);
    expect({ imported, failed }).toEqual({ imported: 2, failed: 0 });
    const home = ['home', 'allow', '10.0.0.0/8'];
    const [switchedOff, open] = [
      ['listed.example.com', false, 'home'],
      ['open.example.com', true, null],
    ];
    expect(await listed()).toEqual({ hosts: [switchedOff, open], lists: [home] });

    await commit(await upload('10.0.0.0/8'));
    expect(await listed()).toEqual({ hosts: [switchedOff, open], lists: [home] });

    const other = await commit(await upload('192.168.0.0/16'));
    expect(await listed()).toEqual({
      hosts: [['listed.example.com', false, 'home (imported)'], open],
      lists: [home, ['home (imported)', 'allow', '192.168.0.0/16']],
    });
    for (const one of [other.batch, batch]) {
      const back = await app.send('POST', `/history/batches/${one}/revert`);
      expect(back.status, JSON.stringify(back.body)).toBe(200);
    }
    expect(await listed()).toEqual({ hosts: [], lists: [] });
  });

  test('a host comes in force with its list where lists act, and not at all without the list', async () => {
    const config = await app.send('POST', '/security/config', { admin_whitelist: '127.0.0.1' }, admin.headers);
    expect(config.status, JSON.stringify(config.body)).toBeLessThan(300);
    for (const key of ['feature.guard.enabled', 'security.acl.enabled']) {
      const set = await app.send('POST', '/settings', { key, value: 'true' }, admin.headers);
      expect(set.status, JSON.stringify(set.body)).toBeLessThan(300);
    }
    const shown = await upload('10.0.0.0/8');
    expect(shown.hosts[0]?.warnings.map(({ message }) => message).join()).not.toContain('switched off');
    await commit(shown);
    expect((await listed()).hosts).toEqual([
      ['listed.example.com', true, 'home'],
      ['open.example.com', true, null],
    ]);
  });

  test('what is not base64 is refused by the name of its field', async () => {
    const files = [{ filename: 'a', content: 'not base64!', encoding: 'base64' }];
    for (const [path, body, field] of [
      ['/import/upload', files[0], 'content'],
      ['/import/upload-multi', { files }, 'files[0].content'],
    ] as const) {
      const answer = await app.send<ErrorBody>('POST', path, body);
      expect(answer).toMatchObject({ status: 400, body: { error: `${field} must be base64` } });
    }
  });

  test('a database that can not be read ends as a failed session that says why', async () => {
    const content = Buffer.concat([Buffer.from('SQLite format 3\0'), Buffer.alloc(9_000)]).toString('base64');
    const answer = await app.send<{ session: ImportSession }>('POST', '/import/upload', {
      content,
      encoding: 'base64',
    });
    const preview = await app.send<ErrorBody>('GET', '/import/preview');
    expect(preview.status).toBe(404);
    const report = await app.send<ErrorBody>('GET', `/import/sessions/${answer.body.session.uuid}`);
    expect(JSON.stringify(report.body)).toContain('the database is not imported');
  });
});
