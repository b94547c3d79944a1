import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SecurityStatus, Setting } from '@sallyport/contract';
import { proxyDirectory } from '@sallyport/deployment/places';
import { dataPlaneFiles } from '@sallyport/haproxy';
import { openPendingNote, pendingResets } from '@sallyport/recovery/pending';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { bareEnvironment } from '../../../../../../test/support/bare-environment.ts';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { type DatabaseKind, onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';
import { type Enforced, startEnforced } from '../../../testing/start-enforced.ts';

// Server, HAProxy and renderer start several times in one test.
const renderer = join(import.meta.dirname, '../../../render/main.ts');

/** What keeps the reset out of the store, as a full disk does, and no more: everything else goes on. */
const REFUSING: Readonly<Record<DatabaseKind, readonly string[]>> = {
  sqlite: [
    "create trigger refuse before update on settings when new.value = 'false' begin select raise(abort, 'full'); end",
  ],
  postgres: [
    "create function refuse() returns trigger as $$ begin raise exception 'full'; end $$ language plpgsql",
    "create trigger refuse before update on settings for each row when (new.value = 'false') execute function refuse()",
  ],
};
const ADMITTING: Readonly<Record<DatabaseKind, string>> = {
  sqlite: 'drop trigger refuse',
  postgres: 'drop trigger refuse on settings',
};

onBothDatabases('an emergency reset that could not be stored', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let haproxy: Enforced;
  let database: Database;

  const run = (statement: string) => sql.raw(statement).execute(database.kysely);
  const mapFile = (name: string) => readFileSync(join(proxyDirectory(app.dataDir), name), 'utf8');
  const note = () => {
    const { write, close } = openPendingNote(app.dataDir, 'emergency');
    write(new Date().toISOString());
    close();
  };
  const render = (env: Record<string, string> = {}) =>
    spawnSync(process.execPath, [renderer], {
      env: {
        ...bareEnvironment,
        SALLYPORT_DATA_DIR: app.dataDir,
        ...(app.config.databaseUrl !== undefined && { DATABASE_URL: app.config.databaseUrl }),
        ...env,
      },
      encoding: 'utf8',
    });

  beforeEach(async () => {
    app = await startApp(kind);
    admin = await createGiven(app).administrator();
    haproxy = await startEnforced(app.config);
    database = openDatabase(app.config);
    await app.send('POST', '/security/config', { admin_whitelist: '192.0.2.1' }, admin.headers);
    for (const key of ['security.rate_limit.enabled', 'feature.guard.enabled']) {
      await app.send('POST', '/settings', { key, value: 'true' }, admin.headers);
    }
    await expect.poll(haproxy.limit).toBeGreaterThan(0);
    for (const statement of REFUSING[kind]) await run(statement);
  });
  afterEach(async () => {
    await database.stop();
    await haproxy.stop();
    await app.stop();
  });

  test('stays in force while the server starts again, is told, and is stored when it can be', async () => {
    note();
    // What the running server had begun to enforce before the note is over when this is answered.
    await app.send('POST', '/settings', { key: 'security.acl.enabled', value: 'true' }, admin.headers);
    // What the reset did, before the server was started again.
    await haproxy.plane.applyRateLimit(null);
    const seen: number[] = [];
    const watching = new AbortController();
    const watch = (async () => {
      while (!watching.signal.aborted) seen.push(await haproxy.limit());
    })();
    // Should the test end before it is waited for.
    watch.catch(() => undefined);
    await app.restart();
    // By then it has told HAProxy what it enforces.
    await expect
      .poll(async () => (await app.send<SecurityStatus>('GET', '/security/status')).body.issue)
      .toBe('an emergency reset can not be stored yet: nothing is enforced until it is');
    watching.abort();
    await watch;
    expect([...new Set(seen)]).toEqual([0]);

    await run(ADMITTING[kind]);
    await expect.poll(() => pendingResets(app.dataDir)).toEqual([]);
    const { headers } = await createGiven(app).signIn(admin.user.email);
    const { body } = await app.send<Setting>('GET', '/settings/feature.guard.enabled', undefined, headers);
    expect(body.value).toBe('false');
    // What is switched on from now on is enforced again.
    for (const key of ['security.rate_limit.enabled', 'feature.guard.enabled']) {
      await app.send('POST', '/settings', { key, value: 'true' }, headers);
    }
    await expect.poll(haproxy.limit).toBeGreaterThan(0);
  });

  test('is what HAProxy starts with, even when the store can not be read', async () => {
    await app.send('POST', '/settings', { key: 'security.waf.enabled', value: 'true' }, admin.headers);
    await expect.poll(haproxy.switches).toMatchObject({ judgeWaf: true });
    // What a running one has begun to enforce may come after the note, and a moment later it puts right whatever HAProxy started with.
    await app.goDown();
    expect(render().stderr).toBe('');
    expect(mapFile(dataPlaneFiles.limitsMap)).not.toMatch(/^requests 0$/m);
    note();
    expect(render().stderr).toBe('');
    expect(mapFile(dataPlaneFiles.limitsMap)).toMatch(/^requests 0$/m);
    await haproxy.goAway();
    await haproxy.comeBack();
    expect(await haproxy.limit()).toBe(0);
    expect(await haproxy.switches()).toMatchObject({ judgeAccess: false, judgeWaf: false });

    rmSync(join(app.dataDir, 'emergency', 'emergency.pending'));
    expect(render().stderr).toBe('');
    expect(mapFile(dataPlaneFiles.limitsMap)).not.toMatch(/^requests 0$/m);
    note();
    expect(render({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }).status).toBe(1);
    expect(mapFile(dataPlaneFiles.limitsMap)).toMatch(/^requests 0$/m);
  });
});
