import type { AuditEntry, Backup, ErrorBody, ImportOfFiles } from '@sallyport/contract';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { createGivenImports, type GivenImports, site } from '../../../testing/given-imports.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('importing', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let given: GivenImports;
  let database: Database;
  beforeAll(async () => {
    app = await startApp(kind, { SALLYPORT_SESSION_SECRET: 's'.repeat(32) });
    admin = await createGiven(app).administrator();
    given = createGivenImports(app);
    database = openDatabase(app.config);
  });
  afterAll(async () => {
    await database.stop();
    await app.stop();
  });
  afterEach(() => given.clear());

  const texts = () =>
    database.kysely.selectFrom('import_sessions').select(['uuid', 'state', 'files_sealed', 'reading_sealed']).execute();

  test('goes from the upload over the preview to hosts, and forgets what was uploaded', async () => {
    expect((await given.status()).body).toEqual({ has_pending: false });
    const before = await app.send<ErrorBody>('GET', '/import/preview');
    expect(before).toMatchObject({ status: 404, body: { error: 'No active import session' } });

    const session = await given.upload(site('a.example.com, b.example.com', 3001) + site('c.example.com', 3002));
    expect(session).toMatchObject({ filename: 'Caddyfile', state: 'parsing', source: null });
    const shown = await given.preview();
    expect(shown).toMatchObject({
      session: { uuid: session.uuid, state: 'reviewing', source: 'caddyfile' },
      conflicts: [],
      errors: [],
      hosts: [
        {
          domain: 'a.example.com,b.example.com',
          forward_scheme: 'http',
          forward_host: '127.0.0.1',
          forward_port: 3001,
          line: 1,
          issue: null,
        },
        { domain: 'c.example.com', forward_port: 3002, line: 4 },
      ],
    });
    expect((await given.status()).body).toMatchObject({
      has_pending: true,
      session: { uuid: session.uuid, state: 'reviewing' },
    });

    const done = await given.commit(session.uuid, {});
    expect(done).toMatchObject({ status: 200, body: { imported: 2, skipped: 0, failed: 0, failures: [] } });
    expect(await given.routes()).toEqual(['a.example.com,b.example.com 3001', 'c.example.com 3002']);
    expect((await given.status()).body).toEqual({ has_pending: false });
    expect((await texts()).every((row) => row.files_sealed === null && row.reading_sealed === null)).toBe(true);
    const report = await given.report(session.uuid);
    expect(report.body).toMatchObject({ state: 'committed', outcome: { imported: 2, skipped: 0, failed: 0 } });

    // As single ones have it: an entry and a change for each, which go back together; and a backup before.
    const trail = await app.send<AuditEntry[]>('GET', '/audit-logs?limit=3', undefined, admin.headers);
    expect(trail.body.slice(0, 3).map(({ action }) => action)).toEqual([
      'import.commit',
      'proxy_host.create',
      'proxy_host.create',
    ]);
    const backups = await app.send<Backup[]>('GET', '/backups', undefined, admin.headers);
    expect(backups.body.map(({ name }) => name)).toContain(done.body.backup);
    const back = await app.send('POST', `/history/batches/${done.body.batch}/revert`);
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    expect(await given.routes()).toEqual([]);
    expect(await given.commit(session.uuid)).toMatchObject({
      status: 400,
      body: { error: 'Invalid session or unresolved conflicts' },
    });
  });

  test('says of a host that it can not be one, and imports the others', async () => {
    // No host takes more than a hundred names: the rest goes to another one.
    const many = Array.from({ length: 101 }, (_, index) => `n${index}.example.com`);
    const { uuid } = await given.upload(
      [
        site(many.slice(0, 100).join(', '), 5001),
        site(many.map((name) => `x${name}`).join(', '), 5002),
        'meta.example.com {\n\treverse_proxy 169.254.169.254:80\n}\n',
      ].join('\n'),
    );
    const shown = await given.preview();
    expect(shown.hosts.map(({ issue }) => issue === null)).toEqual([true, true, true, false]);
    expect(shown.hosts[3]?.issue).toContain('forward_reserved');
    const done = await given.commit(uuid);
    expect(done.body).toMatchObject({ imported: 3, skipped: 0, failed: 1 });
    expect(done.body.failures.map(({ message }) => message)).toEqual([shown.hosts[3]?.issue]);
  });

  test('what is no configuration fails and says where; the next upload begins anew', async () => {
    const { uuid } = await given.upload('a.example.com {\n\treverse_proxy "unclosed\n');
    expect((await app.send('GET', '/import/preview')).status).toBe(404);
    expect((await given.status()).body).toEqual({ has_pending: false });
    const report = await given.report(uuid);
    expect(report.body).toMatchObject({ state: 'failed', errors: expect.any(Array) });
    expect(report.body.errors[0]).toMatchObject({ file: 'Caddyfile', line: 2 });
    expect((await given.commit(uuid)).status).toBe(400);
    expect((await given.cancel(uuid)).status).toBe(404);
    const second = await given.upload(site('a.example.com', 3001));
    expect((await given.report(uuid)).body.errors).toEqual([]);
    expect((await given.cancel(second.uuid)).status).toBe(204);
    expect((await given.cancel(second.uuid)).status).toBe(404);
    expect((await app.send('GET', `/import/sessions/${second.uuid}`)).body).toMatchObject({ state: 'cancelled' });
    expect(await given.hosts()).toEqual([]);
  });

  test('several files, the main one first; files that are served are refused', async () => {
    const multi = (files: unknown) => app.send<ImportOfFiles & ErrorBody>('POST', '/import/upload-multi', { files });
    const done = await multi([
      { filename: 'Caddyfile', content: 'import sites/*\n' },
      { filename: 'sites/a.caddy', content: site('a.example.com', 3001) },
      { filename: 'sites/b.caddy', content: site('b.example.com', 3002) },
    ]);
    expect(done).toMatchObject({ status: 200, body: { conflicts: [], errors: [], warning: expect.any(String) } });
    expect(done.body.hosts.map(({ domain, file }) => `${domain} ${file}`)).toEqual([
      'a.example.com sites/a.caddy',
      'b.example.com sites/b.caddy',
    ]);
    expect((await given.status()).body.session?.uuid).toBe(done.body.session_uuid);
    expect((await given.commit(done.body.session_uuid)).body).toMatchObject({ imported: 2 });

    const served = `${site('c.example.com', 3001)}static.example.com {\n\troot * /srv\n\tfile_server\n}\n`;
    const refused = await multi([{ filename: 'Caddyfile', content: served }]);
    expect(refused).toMatchObject({ status: 400, body: { warning: expect.stringContaining('tatic file') } });
    expect((await given.status()).body.has_pending).toBe(false);
    // One by one they are no reason to refuse the others.
    await given.upload(served);
    const shown = await given.preview();
    expect(shown.hosts.map(({ domain }) => domain)).toContain('c.example.com');
    expect(shown.warnings.map(({ message }) => message).join()).toContain('file_server');

    for (const nothing of [undefined, [], null]) {
      expect(await multi(nothing)).toMatchObject({
        status: 400,
        body: { error: 'files is required and must contain at least one file' },
      });
    }
    const same = { filename: 'Caddyfile', content: 'x' };
    expect((await multi([same, same])).body.error).toBe('files[1].filename is the name of an earlier file');
    expect((await multi([{ content: 'x' }])).body.error).toBe('files[0].filename is required');
  });

  test('refuses in the words of the specification', async () => {
    const post = (path: string, body: object) => app.send<ErrorBody>('POST', `/import/${path}`, body);
    expect(await post('upload', {})).toMatchObject({ status: 400, body: { error: 'content is required' } });
    expect(await post('upload', { content: '' })).toMatchObject({
      status: 400,
      body: { error: 'content is required' },
    });
    expect(await post('commit', { session_uuid: 'none', resolutions: {} })).toMatchObject({
      status: 400,
      body: { error: 'Invalid session or unresolved conflicts' },
    });
    expect(await given.cancel('00000000-0000-4000-8000-000000000000')).toMatchObject({
      status: 404,
      body: { error: 'No active import session' },
    });
    expect((await app.send<ErrorBody>('DELETE', '/import/cancel')).body.error).toBe('session_uuid is required');
    const large = 'x'.repeat(10 * 1024 * 1024);
    expect((await post('upload', { content: large })).status).toBe(413);
  });
});
