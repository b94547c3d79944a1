import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openArchive } from '@sallyport/backup/format/open-archive';
import { KNOWN_PARTS } from '@sallyport/backup/shelf/make-backup';
import { createShelf } from '@sallyport/backup/shelf/shelf';
import { storedPassphrase } from '@sallyport/backup/shelf/stored-passphrase';
import type { Backup, ErrorBody, Setting } from '@sallyport/contract';
import { MIGRATION_NAMES } from '@sallyport/store/database/migrate';
import { openDatabase } from '@sallyport/store/database/open';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { startServer } from '../../../server.ts';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';
import { scheduleStore } from './store.ts';

const PASSPHRASE = 'three copper lanterns';
const SECRET = 'a secret that outlives each start of the server';
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

onBothDatabases('the schedule of backups', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let now = new Date();
  afterEach(() => app.stop());

  const start = async () => {
    now = new Date();
    app = await startApp(kind, { SALLYPORT_SESSION_SECRET: SECRET }, { clock: () => now });
    admin = await createGiven(app).administrator();
  };
  const send = <T = Setting & ErrorBody>(method: string, path: string, body?: unknown, headers = admin.headers) =>
    app.send<T>(method, path, body, headers);
  const set = (key: string, value: string) => send('POST', '/settings', { key, value });
  const scheduled = async () =>
    (await send<Backup[]>('GET', '/backups')).body.filter((backup) => backup.kind === 'scheduled');
  const count = async () => (await scheduled()).length;
  const failures = async () =>
    /^sallyport_backup_failures_total (\S+)$/m.exec(await (await fetch(`${app.url}/metrics`)).text())?.[1];
  /** Has the schedule looked at again, as the passing of some seconds does. */
  const look = () => set('backup.keep', '14');

  test('is five fields of a crontab that come at some time', async () => {
    await start();
    for (const value of ['daily', '* * *', '0 0 0 * * *', '61 * * * *', '0 0 31 2 *']) {
      const answer = await set('backup.schedule', value);
      expect(answer, value).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/^value must be five/) },
      });
    }
    expect(await set('backup.schedule', ' 0 3 * * mon ')).toMatchObject({
      status: 200,
      body: { value: '0 3 * * mon' },
    });
    expect(await set('backup.passphrase', 'short')).toMatchObject({ status: 400 });
  });

  test('makes the first one at once, the next when it is time, and one for all that were missed', async () => {
    await start();
    await set('backup.schedule', '0 * * * *');
    await expect.poll(count).toBe(1);
    await look();
    now = new Date(now.getTime() + HOUR_MS);
    await look();
    await expect.poll(count).toBe(2);
    now = new Date(now.getTime() + 3 * HOUR_MS);
    await app.restart();
    await expect.poll(count).toBe(3);
    // What a clock that had gone wrong left.
    const database = openDatabase(app.config);
    const { madeAt, made } = scheduleStore(database.kysely);
    await expect.poll(madeAt).toBe(now.toISOString());
    await made({ madeAt: await madeAt(), at: new Date(now.getTime() + 30 * DAY_MS).toISOString(), until: '' });
    await look();
    await expect.poll(count).toBe(4);
    await database.stop();
    await set('backup.schedule', '');
    now = new Date(now.getTime() + 3 * HOUR_MS);
    await look();
    expect((await scheduled()).map(({ encrypted, verified_at }) => [encrypted, verified_at !== null])).toEqual(
      [1, 2, 3, 4].map(() => [false, true]),
    );
  });

  test('encrypts with the passphrase of the settings', async () => {
    await start();
    await set('backup.passphrase', PASSPHRASE);
    await set('backup.schedule', '0 3 * * *');
    await expect.poll(count).toBe(1);
    const [made] = await scheduled();
    expect(made).toMatchObject({ encrypted: true });
    const body = { passphrase: PASSPHRASE };
    expect((await send('POST', `/backups/${made?.name}/verify`, body)).body).toEqual({ valid: true, problems: [] });
  });

  test('tells a failure, and tries again after a pause', async () => {
    await start();
    // A file in the place of the directory: nobody, not even root, can write into it.
    const directory = join(app.dataDir, 'backups');
    if (existsSync(directory)) renameSync(directory, `${directory}.away`);
    writeFileSync(directory, '');
    await set('backup.schedule', '0 3 * * *');
    await expect.poll(failures).toBe('1');
    await look();
    rmSync(directory);
    now = new Date(now.getTime() + HOUR_MS / 6);
    await look();
    await expect.poll(count).toBe(1);
    expect(await failures()).toBe('1');
  });
});

onBothDatabases('a store that an earlier version left', (kind) => {
  test('is backed up as it is, before it is changed, with the passphrase that it holds', async () => {
    const app = await startApp(kind, { SALLYPORT_SESSION_SECRET: SECRET });
    const { headers } = await createGiven(app).administrator();
    await app.send('POST', '/settings', { key: 'backup.passphrase', value: PASSPHRASE }, headers);
    const database = openDatabase(app.config);
    expect(await storedPassphrase(database.kysely, app.config)).toBe(PASSPHRASE);
    // With a key that opens nothing the backup is made nonetheless.
    expect(await storedPassphrase(database.kysely, { ...app.config, encryptionKey: SECRET })).toBe(undefined);
    await database.kysely.schema.dropTable('backup_schedule').execute();
    const last = MIGRATION_NAMES.filter((name) => name.endsWith('backup-schedule'));
    await database.kysely
      .deleteFrom('schema_migrations' as never)
      .where('name' as never, 'in', last as never)
      .execute();
    await database.stop();
    await app.restart();
    const { body } = await app.send<Backup[]>('GET', '/backups', undefined, headers);
    expect(body).toEqual([expect.objectContaining({ kind: 'automatic', reason: 'before-migration' })]);
    const path = join(app.dataDir, 'backups', body[0]?.name ?? '');
    const archive = await openArchive(path, { known: KNOWN_PARTS, passphrase: PASSPHRASE });
    expect(archive.manifest.migrations).toEqual(MIGRATION_NAMES.filter((name) => !last.includes(name)));
    await archive.close();
    await app.restart();
    expect((await app.send<Backup[]>('GET', '/backups', undefined, headers)).body).toEqual(body);
    await app.stop();
  });
});

onBothDatabases('the lease of the schedule', (kind) => {
  test('stays with whoever took it from a node that was too slow, and the first backup counts', async () => {
    const app = await startApp(kind);
    const database = openDatabase(app.config);
    const { claim, made, madeAt } = scheduleStore(database.kysely);
    const at = (minutes: number) => new Date(minutes * 60_000).toISOString();
    const slow = { madeAt: '', now: at(0), until: at(10) };
    const next = { madeAt: '', now: at(11), until: at(21) };
    expect([await claim(slow), await claim({ ...next, now: at(9) }), await claim(next)]).toEqual([true, false, true]);
    await made({ madeAt: '', at: at(0), until: at(10) });
    const third = { madeAt: at(0), now: at(12), until: at(22) };
    expect([await madeAt(), await claim(third)]).toEqual([at(0), false]);
    await made({ madeAt: '', at: at(11), until: at(21) });
    expect(await madeAt()).toBe(at(0));
    await database.stop();
    await app.stop();
  });
});

test('nodes that share a store make one backup together, whoever comes first', async () => {
  let now = new Date();
  const clock = () => now;
  const env = { SALLYPORT_SESSION_SECRET: SECRET, SALLYPORT_ENCRYPTION_KEY: SECRET };
  const app = await startApp('postgres', env, { clock });
  const { headers } = await createGiven(app).administrator();
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-node-'));
  const other = await startServer({ ...app.config, dataDir }, pino({ level: 'silent' }), { clock });
  const database = openDatabase(app.config);
  const { madeAt } = scheduleStore(database.kysely);
  const made = async () =>
    (await Promise.all([app.dataDir, dataDir].map((of) => createShelf(of).list()))).flat().length;
  /** Has both nodes look at the schedule in the same moment. */
  const look = () =>
    Promise.all(
      [app.url, other.url].map((url) =>
        fetch(`${url}/api/v1/settings`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ key: 'backup.schedule', value: '0 * * * *' }),
        }),
      ),
    );
  for (const expected of [1, 2, 3]) {
    await look();
    // It is there before it is written down; an hour later a node that is at it still would no longer be waited for.
    await expect.poll(async () => [await made(), await madeAt()]).toEqual([expected, now.toISOString()]);
    // Not after the last one: by itself each node looks now and then, too.
    if (expected < 3) now = new Date(now.getTime() + HOUR_MS);
  }
  await other.stop();
  expect(await made()).toBe(3);
  await database.stop();
  await app.stop();
  rmSync(dataDir, { recursive: true });
});
