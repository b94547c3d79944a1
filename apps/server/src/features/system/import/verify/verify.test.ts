import { createServer } from 'node:http';
import type { AuditEntry, ErrorBody, ImportVerification } from '@sallyport/contract';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../../../../test/support/free-ports.ts';
import { type Caller, createGiven } from '../../../../testing/given-accounts.ts';
import { createGivenImports, type GivenImports, site } from '../../../../testing/given-imports.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../../testing/start-app.ts';

onBothDatabases('verifying an import', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let given: GivenImports;
  beforeAll(async () => {
    const env = { SALLYPORT_SESSION_SECRET: 's'.repeat(32), SALLYPORT_PROXY_HTTP: `127.0.0.1:${await freePort()}` };
    app = await startApp(kind, env);
    admin = await createGiven(app).administrator();
    given = createGivenImports(app);
  });
  afterAll(async () => {
    await app.stop();
  });
  afterEach(() => given.clear());

  test('compares with the old proxy what was committed, and the trail says who had it do so', async () => {
    const old = createServer((_, response) => response.end('old'));
    const port = await freePort();
    await new Promise<void>((done) => {
      old.listen(port, '127.0.0.1', done);
    });
    const old_address = `http://127.0.0.1:${port}`;
    const { uuid } = await given.upload(site('a.example.com', 3001) + site('b.example.com', 3002));
    await given.preview();
    const verify = (fields: object = {}) =>
      app.send<ImportVerification & ErrorBody>('POST', '/import/verify', { session: uuid, old_address, ...fields });
    expect(await verify()).toMatchObject({ status: 409, body: { error: expect.stringContaining('reviewing') } });
    await given.host({ domain: 'b.example.com' });
    await given.commit(uuid, { 'b.example.com': 'keep' });

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
    const report = await given.report(uuid);
    expect(report.body.outcome).toEqual({ imported: 1, skipped: 1, failed: 0 });
  });
});
