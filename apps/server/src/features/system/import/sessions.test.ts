import type { ErrorBody } from '@sallyport/contract';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { importContext } from '@sallyport/store/secrets/contexts';
import { openVault } from '@sallyport/store/secrets/vault';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { until } from '../../../../../../test/support/until.ts';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { createGivenImports, type GivenImports, site } from '../../../testing/given-imports.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('a session', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let given: GivenImports;
  let database: Database;
  let now = Date.now();
  beforeAll(async () => {
    app = await startApp(kind, { SALLYPORT_SESSION_SECRET: 's'.repeat(32) }, { clock: () => new Date(now) });
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

  test('one session at a time: who uploads again begins anew, and somebody else has to end it first', async () => {
    const first = await given.upload(site('a.example.com', 3001));
    const second = await given.upload(site('b.example.com', 3001));
    expect((await given.status()).body.session?.uuid).toBe(second.uuid);
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

  test('goes on after a restart, also with what was not read yet', async () => {
    const { uuid } = await given.upload(site('a.example.com', 3001));
    await given.preview();
    await app.restart();
    expect((await given.preview()).session).toMatchObject({ uuid, state: 'reviewing' });
    await given.cancel(uuid);

    const next = await given.upload(site('b.example.com', 3001));
    await given.preview();
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
    expect((await given.preview()).hosts.map(({ domain }) => domain)).toEqual(['c.example.com']);
    // What ends the service each time is not read for ever.
    await put(3);
    expect((await app.send('GET', '/import/preview')).status).toBe(404);
    const report = await given.report(next.uuid);
    expect(report.body).toMatchObject({ state: 'failed' });
    expect(report.body.errors[0]?.message).toContain('ended each time');
  });

  test('is forgotten when nobody looks at it any more', async () => {
    const { uuid } = await given.upload(site('a.example.com', 3001));
    await given.preview();
    now += 25 * 3_600_000;
    await app.restart();
    const report = () => given.report(uuid);
    await until('it is cancelled', async () => (await report()).body.state === 'cancelled');
    expect((await texts()).find((row) => row.uuid === uuid)).toMatchObject({
      files_sealed: null,
      reading_sealed: null,
    });
    now += 8 * 24 * 3_600_000;
    await app.restart();
    await until('it is forgotten', async () => (await report()).status === 404);
  });
});
