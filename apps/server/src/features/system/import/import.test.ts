import { createServer } from 'node:http';
import type {
  AuditEntry,
  Backup,
  ErrorBody,
  ImportOfFiles,
  ImportOutcome,
  ImportPreview,
  ImportSession,
  ImportSessionReport,
  ImportStatus,
  ImportVerification,
  ProxyHost,
} from '@sallyport/contract';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { importContext } from '@sallyport/store/secrets/contexts';
import { openVault } from '@sallyport/store/secrets/vault';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../../../test/support/free-ports.ts';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

const site = (domain: string, port: number) => `${domain} {\n\treverse_proxy 127.0.0.1:${port}\n}\n`;

onBothDatabases('importing', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let database: Database;
  let now = Date.now();
  beforeAll(async () => {
    const env = { SALLYPORT_SESSION_SECRET: 's'.repeat(32), SALLYPORT_PROXY_HTTP: `127.0.0.1:${await freePort()}` };
    app = await startApp(kind, env, { clock: () => new Date(now) });
    admin = await createGiven(app).administrator();
    database = openDatabase(app.config);
  });
  afterAll(async () => {
    await database.stop();
    await app.stop();
  });
  afterEach(async () => {
    const { body } = await status();
    if (body.session) await cancel(body.session.uuid);
    const hosts = await app.send<ProxyHost[]>('GET', '/proxy-hosts');
    if (hosts.body.length > 0)
      await app.send('POST', '/proxy-hosts/bulk-delete', { uuids: hosts.body.map(({ uuid }) => uuid) });
  });

  const status = () => app.send<ImportStatus>('GET', '/import/status');
  const cancel = (uuid: string) => app.send<ErrorBody>('DELETE', `/import/cancel?session_uuid=${uuid}`);
  const upload = async (content: string, filename?: string): Promise<ImportSession> => {
    const answer = await app.send<{ session: ImportSession }>('POST', '/import/upload', { content, filename });
    expect(answer.status).toBe(201);
    return answer.body.session;
  };
  const preview = async (): Promise<ImportPreview> => {
    const answer = await app.send<ImportPreview>('GET', '/import/preview');
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  const commit = (session_uuid: string, resolutions?: object) =>
    app.send<ImportOutcome & ErrorBody>('POST', '/import/commit', { session_uuid, resolutions });
  const given = async (fields: object): Promise<ProxyHost> => {
    const answer = await app.send<ProxyHost>('POST', '/proxy-hosts', {
      forward_host: '127.0.0.1',
      forward_port: 9,
      ...fields,
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const hosts = async () => {
    const { body } = await app.send<ProxyHost[]>('GET', '/proxy-hosts?sort=domain');
    return body;
  };
  const routes = async () => (await hosts()).map(({ domain, forward_port }) => `${domain} ${forward_port}`);
  const texts = () =>
    database.kysely.selectFrom('import_sessions').select(['uuid', 'state', 'files_sealed', 'reading_sealed']).execute();

  test('goes from the upload over the preview to hosts, and forgets what was uploaded', async () => {
    expect((await status()).body).toEqual({ has_pending: false });
    const before = await app.send<ErrorBody>('GET', '/import/preview');
    expect(before).toMatchObject({ status: 404, body: { error: 'No active import session' } });

    const session = await upload(site('a.example.com, b.example.com', 3001) + site('c.example.com', 3002));
    expect(session).toMatchObject({ filename: 'Caddyfile', state: 'parsing', source: null });
    const shown = await preview();
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
    expect((await status()).body).toMatchObject({
      has_pending: true,
      session: { uuid: session.uuid, state: 'reviewing' },
    });

    const done = await commit(session.uuid, {});
    expect(done).toMatchObject({ status: 200, body: { imported: 2, skipped: 0, failed: 0, failures: [] } });
    expect(await routes()).toEqual(['a.example.com,b.example.com 3001', 'c.example.com 3002']);
    expect((await status()).body).toEqual({ has_pending: false });
    expect((await texts()).every((row) => row.files_sealed === null && row.reading_sealed === null)).toBe(true);
    const report = await app.send<ImportSessionReport>('GET', `/import/sessions/${session.uuid}`);
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
    expect(await routes()).toEqual([]);
    expect(await commit(session.uuid)).toMatchObject({
      status: 400,
      body: { error: 'Invalid session or unresolved conflicts' },
    });
  });

  test('asks what becomes of names that are taken, and does that', async () => {
    const kept = await given({ domain: 'kept.example.com' });
    const alone = await given({ domain: 'alone.example.com', waf_enabled: false, websocket_support: false });
    const several = await given({ domain: 'one.example.com,two.example.com', waf_inspect_responses: true });
    const { uuid } = await upload(
      [
        site('kept.example.com', 4001),
        site('alone.example.com', 4002),
        site('two.example.com, new.example.com', 4003),
        site('free.example.com', 4004),
      ].join('\n'),
    );
    const shown = await preview();
    expect(shown.conflicts).toEqual(['kept.example.com', 'alone.example.com', 'two.example.com']);
    expect(shown.hosts[2]?.existing).toEqual([{ uuid: several.uuid, domain: several.domain }]);
    expect(shown.hosts[1]?.changes).toContainEqual({ field: 'forward_port', before: 9, after: 4002 });

    const open = await commit(uuid, { 'kept.example.com': 'keep' });
    expect(open).toMatchObject({
      status: 400,
      body: {
        error: 'Invalid session or unresolved conflicts',
        details: 'conflicts without a resolution: alone.example.com, two.example.com',
      },
    });
    const resolutions = {
      'kept.example.com': 'keep',
      'Alone.example.com': 'overwrite',
      'two.example.com,new.example.com': 'overwrite',
    };
    expect((await commit(uuid, { ...resolutions, 'tpyo.example.com': 'skip' })).status).toBe(400);
    expect((await commit(uuid, { ...resolutions, 'kept.example.com': 'maybe' })).status).toBe(400);
    expect(await hosts()).toHaveLength(3);

    const done = await commit(uuid, resolutions);
    expect(done.body).toMatchObject({ imported: 3, skipped: 1, failed: 0 });
    expect(await routes()).toEqual([
      'alone.example.com 4002',
      'free.example.com 4004',
      'kept.example.com 9',
      'one.example.com 9',
      'two.example.com,new.example.com 4003',
    ]);
    const all = await hosts();
    // What is overwritten stays the same host, and what the file does not speak of as it was; also for a name that is taken out.
    expect(all[0]).toMatchObject({ uuid: alone.uuid, waf_enabled: false, websocket_support: true });
    expect(all[2]).toMatchObject({ uuid: kept.uuid });
    expect(all[3]).toMatchObject({ uuid: several.uuid });
    expect(all[4]).toMatchObject({ waf_inspect_responses: true });
    const back = await app.send('POST', `/history/batches/${done.body.batch}/revert`);
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    expect(await routes()).toEqual(['alone.example.com 9', 'kept.example.com 9', 'one.example.com,two.example.com 9']);
  });

  test('one host in the place of several: what protects them has to be the same', async () => {
    await given({ domain: 'p.example.com' });
    await given({ domain: 'q.example.com' });
    const mixed = site('p.example.com, q.example.com', 4001);
    const first = await upload(mixed);
    expect((await commit(first.uuid, { 'p.example.com': 'overwrite', 'q.example.com': 'keep' })).status).toBe(400);
    expect((await commit(first.uuid, { 'p.example.com,q.example.com': 'overwrite' })).body).toMatchObject({
      imported: 1,
    });
    expect(await routes()).toEqual(['p.example.com,q.example.com 4001']);

    await given({ domain: 'r.example.com', block_exploits: false });
    const second = await upload(site('p.example.com, r.example.com', 4002) + site('s.example.com', 4003));
    const done = await commit(second.uuid, { 'p.example.com': 'overwrite', 'r.example.com': 'overwrite' });
    expect(done.body).toMatchObject({ imported: 1, failed: 1 });
    expect(done.body.failures[0]?.message).toContain('protected differently');
    expect(await routes()).toEqual(['p.example.com,q.example.com 4001', 'r.example.com 9', 's.example.com 4003']);
  });

  test('says of a host that it can not be one, and imports the others', async () => {
    // No host takes more than a hundred names: the rest goes to another one.
    const many = Array.from({ length: 101 }, (_, index) => `n${index}.example.com`);
    const { uuid } = await upload(
      [
        site(many.slice(0, 100).join(', '), 5001),
        site(many.map((name) => `x${name}`).join(', '), 5002),
        'meta.example.com {\n\treverse_proxy 169.254.169.254:80\n}\n',
      ].join('\n'),
    );
    const shown = await preview();
    expect(shown.hosts.map(({ issue }) => issue === null)).toEqual([true, true, true, false]);
    expect(shown.hosts[3]?.issue).toContain('forward_reserved');
    const done = await commit(uuid);
    expect(done.body).toMatchObject({ imported: 3, skipped: 0, failed: 1 });
    expect(done.body.failures.map(({ message }) => message)).toEqual([shown.hosts[3]?.issue]);
  });

  test('what is no configuration fails and says where; the next upload begins anew', async () => {
    const { uuid } = await upload('a.example.com {\n\treverse_proxy "unclosed\n');
    expect((await app.send('GET', '/import/preview')).status).toBe(404);
    expect((await status()).body).toEqual({ has_pending: false });
    const report = await app.send<ImportSessionReport>('GET', `/import/sessions/${uuid}`);
    expect(report.body).toMatchObject({ state: 'failed', errors: expect.any(Array) });
    expect(report.body.errors[0]).toMatchObject({ file: 'Caddyfile', line: 2 });
    expect((await commit(uuid)).status).toBe(400);
    expect((await cancel(uuid)).status).toBe(404);
    const second = await upload(site('a.example.com', 3001));
    expect((await app.send<ImportSessionReport>('GET', `/import/sessions/${uuid}`)).body.errors).toEqual([]);
    expect((await cancel(second.uuid)).status).toBe(204);
    expect((await cancel(second.uuid)).status).toBe(404);
    expect((await app.send('GET', `/import/sessions/${second.uuid}`)).body).toMatchObject({ state: 'cancelled' });
    expect(await hosts()).toEqual([]);
  });

  test('one session at a time: who uploads again begins anew, and somebody else has to end it first', async () => {
    const first = await upload(site('a.example.com', 3001));
    const second = await upload(site('b.example.com', 3001));
    expect((await status()).body.session?.uuid).toBe(second.uuid);
    expect((await app.send('GET', `/import/sessions/${first.uuid}`)).body).toMatchObject({ state: 'cancelled' });
    const other = await app.send<ErrorBody>('POST', '/import/upload', { content: 'c' }, admin.headers);
    expect(other).toMatchObject({ status: 409, body: { error: `Import session ${second.uuid} is active` } });
    const files = [{ filename: 'Caddyfile', content: site('c.example.com', 3001) }];
    expect((await app.send('POST', '/import/upload-multi', { files }, admin.headers)).status).toBe(409);
    const ended = await app.send('DELETE', `/import/cancel?session_uuid=${second.uuid}`, undefined, admin.headers);
    expect(ended.status).toBe(204);
    const theirs = await app.send('POST', '/import/upload', { content: site('c.example.com', 1) }, admin.headers);
    expect(theirs.status).toBe(201);
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
    expect((await status()).body.session?.uuid).toBe(done.body.session_uuid);
    expect((await commit(done.body.session_uuid)).body).toMatchObject({ imported: 2 });

    const served = `${site('c.example.com', 3001)}static.example.com {\n\troot * /srv\n\tfile_server\n}\n`;
    const refused = await multi([{ filename: 'Caddyfile', content: served }]);
    expect(refused).toMatchObject({ status: 400, body: { warning: expect.stringContaining('tatic file') } });
    expect((await status()).body.has_pending).toBe(false);
    // One by one they are no reason to refuse the others.
    await upload(served);
    const shown = await preview();
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

  test('compares with the old proxy what was committed, and the trail says who had it do so', async () => {
    const old = createServer((_, response) => response.end('old'));
    const port = await freePort();
    await new Promise<void>((done) => {
      old.listen(port, '127.0.0.1', done);
    });
    const old_address = `http://127.0.0.1:${port}`;
    const { uuid } = await upload(site('a.example.com', 3001) + site('b.example.com', 3002));
    await preview();
    const verify = (fields: object = {}) =>
      app.send<ImportVerification & ErrorBody>('POST', '/import/verify', { session: uuid, old_address, ...fields });
    expect(await verify()).toMatchObject({ status: 409, body: { error: expect.stringContaining('reviewing') } });
    await given({ domain: 'b.example.com' });
    await commit(uuid, { 'b.example.com': 'keep' });

    // The name that was kept out is none of the import's, and no proxy of ours runs here.
    const verified = await verify({ session: uuid.toUpperCase() });
    expect(verified).toMatchObject({ status: 200, body: { schemes: ['http'], asked: 1, same: 0, not_asked: [] } });
    expect(verified.body.hosts).toMatchObject([
      {
        name: 'a.example.com',
        differences: [{ field: 'reach', before: '200', message: expect.stringContaining('nothing answers here') }],
      },
    ]);
    expect((await verify({ hosts: ['b.example.com'] })).body.error).toContain('hosts[0]');
    await new Promise((done) => old.close(done));
    expect(await verify()).toMatchObject({ status: 400, body: { error: 'old_address does not take connections' } });
    expect((await verify({ old_address: '192.0.2.1' })).status).toBe(403);
    expect((await verify({ old_address: 'metadata.google.internal' })).status).toBe(403);
    const trail = await app.send<AuditEntry[]>('GET', '/audit-logs?limit=9', undefined, admin.headers);
    expect(trail.body.filter(({ action }) => action === 'import.verify')).toHaveLength(1);
    const report = await app.send<ImportSessionReport>('GET', `/import/sessions/${uuid}`);
    expect(report.body.outcome).toEqual({ imported: 1, skipped: 1, failed: 0 });
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
    expect(await cancel('00000000-0000-4000-8000-000000000000')).toMatchObject({
      status: 404,
      body: { error: 'No active import session' },
    });
    expect((await app.send<ErrorBody>('DELETE', '/import/cancel')).body.error).toBe('session_uuid is required');
    const large = 'x'.repeat(10 * 1024 * 1024);
    expect((await post('upload', { content: large })).status).toBe(413);
  });

  test('goes on after a restart, also with what was not read yet', async () => {
    const { uuid } = await upload(site('a.example.com', 3001));
    await preview();
    await app.restart();
    expect((await preview()).session).toMatchObject({ uuid, state: 'reviewing' });
    await cancel(uuid);

    const next = await upload(site('b.example.com', 3001));
    await preview();
    const sealed = await texts();
    expect(sealed.find((row) => row.uuid === next.uuid)?.reading_sealed).toMatch(/^v1\./);
    expect(JSON.stringify(sealed)).not.toContain('b.example.com');
    // As a crash leaves it: begun, and not read.
    const files = JSON.stringify([{ name: 'Caddyfile', content: site('c.example.com', 3001) }]);
    const crashed = (attempts: number) => ({
      state: 'parsing',
      attempts,
      files_sealed: openVault(app.config).seal(files, importContext(next.uuid, 'files')),
      reading_sealed: null,
    });
    const put = async (attempts: number) => {
      await database.kysely
        .updateTable('import_sessions')
        .set(crashed(attempts))
        .where('uuid', '=', next.uuid)
        .execute();
      await app.restart();
    };
    await put(1);
    expect((await preview()).hosts.map(({ domain }) => domain)).toEqual(['c.example.com']);
    // What ends the service each time is not read for ever.
    await put(3);
    expect((await app.send('GET', '/import/preview')).status).toBe(404);
    const report = await app.send<ImportSessionReport>('GET', `/import/sessions/${next.uuid}`);
    expect(report.body).toMatchObject({ state: 'failed' });
    expect(report.body.errors[0]?.message).toContain('ended each time');
  });

  test('is forgotten when nobody looks at it any more', async () => {
    const { uuid } = await upload(site('a.example.com', 3001));
    await preview();
    now += 25 * 3_600_000;
    await app.restart();
    const deadline = Date.now() + 30_000;
    const report = () => app.send<ImportSessionReport>('GET', `/import/sessions/${uuid}`);
    while ((await report()).body.state !== 'cancelled' && Date.now() < deadline)
      await new Promise((done) => setTimeout(done, 50));
    expect((await report()).body.state).toBe('cancelled');
    expect((await texts()).find((row) => row.uuid === uuid)).toMatchObject({
      files_sealed: null,
      reading_sealed: null,
    });
    now += 8 * 24 * 3_600_000;
    await app.restart();
    while ((await report()).status !== 404 && Date.now() < deadline + 30_000)
      await new Promise((done) => setTimeout(done, 50));
    expect((await report()).status).toBe(404);
  });
});
