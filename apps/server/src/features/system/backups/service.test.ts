import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { digestOf } from '@sallyport/backup/shelf/files';
import type { BackupOptions } from '@sallyport/backup/shelf/make-backup';
import { type Actor, systemActor, type UserIdentity } from '@sallyport/store/actor';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { type Backups, createBackups } from './service.ts';

const PASSPHRASE = 'three copper lanterns';
const START = Date.parse('2026-11-20T12:00:00.000Z');
const identity = { kind: 'user', id: 1, email: 'ann@example.com', role: 'admin', mustEnrolTotp: false } as const;
const as = (more: Pick<UserIdentity, 'sessionId' | 'token'>): Actor => ({
  ...systemActor('test'),
  identity: { ...identity, ...more },
});
const session = as({ sessionId: 'x', token: null });
const token = as({ sessionId: null, token: { id: 1, name: 'ci' } });

/** Backups of a store of their own, and what a test may set or look at. */
const withBackups = (
  work: (given: {
    backups: Backups;
    config: BackupOptions['config'];
    /** `action` of all that was written down. */
    noted: string[];
    settings: { passphrase: () => Promise<string | undefined>; keep: number; copies: number; isTrailAway: boolean };
    all: () => Promise<[string, boolean][]>;
    pathOf: (name: string) => string;
    /** Offers a file as if it had been uploaded. */
    upload: (path: string, passphrase?: string) => ReturnType<Backups['takeUpload']>;
  }) => Promise<void>,
) =>
  withStore(async (database, dataDir) => {
    const config = { dataDir, databaseUrl: undefined, encryptionKey: 'a key of the deployment, long enough' };
    await openStoreVault(database, config);
    let seconds = 0;
    const noted: string[] = [];
    const settings = {
      passphrase: async (): Promise<string | undefined> => undefined,
      keep: 2,
      copies: 0,
      isTrailAway: false,
    };
    const backups = createBackups({
      config,
      transactAside: database.transactAside,
      record: async (_tx, { action }) => void noted.push(action),
      async note({ action }) {
        // As a store does, it takes a moment: who does not wait for it hands out what is not written down yet.
        await setImmediate();
        if (settings.isTrailAway) throw new Error('the trail is away');
        noted.push(action);
      },
      storedPassphrase: () => settings.passphrase(),
      keep: async () => settings.keep,
      copies: {
        look: async () => async () => ({ copied_at: null, copy_problem: 'stays', copy_retry_at: null }),
        made: () => void settings.copies++,
      },
      // A name has the second in it.
      clock: () => new Date(START + seconds++ * 1_000),
      log: pino({ level: 'silent' }),
    });
    const all = async () =>
      (await backups.list({})).rows.map(({ kind, encrypted }): [string, boolean] => [kind, encrypted]);
    const upload = async (path: string, passphrase?: string) => {
      const draft = await backups.draft();
      await draft.file.appendFile(readFileSync(path));
      return backups.takeUpload({ draft, sha256: await digestOf(draft.path), passphrase }, session);
    };
    const pathOf = (name: string) => join(dataDir, 'backups', name);
    await work({ backups, config, noted, settings, all, pathOf, upload });
  });

const status = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    ({ status, message }: { status?: number; message: string }) => status ?? message,
  );

test('as many of a kind are kept as are wanted, and the newest that can be relied on in any case', () =>
  withBackups(async ({ backups, settings, all, noted }) => {
    await backups.create(undefined, session);
    for (let n = 0; n < 3; n++) await backups.createAutomatic('before-test');
    expect(await all()).toEqual([
      ['automatic', false],
      ['automatic', false],
      ['manual', false],
    ]);
    settings.keep = 0;
    const made = await backups.createScheduled();
    expect([made.kind, made.copy_problem, await all()]).toEqual([
      'scheduled',
      'stays',
      [
        ['scheduled', false],
        ['automatic', false],
        ['automatic', false],
        ['manual', false],
      ],
    ]);
    expect((await backups.newestVerifiedBackup())?.name).toBe(made.name);
    await backups.create(undefined, session);
    await backups.createAutomatic('before-test');
    expect((await all()).map(([kind]) => kind)).toEqual(['automatic', 'manual', 'scheduled', 'manual']);
    expect([settings.copies, noted]).toEqual([7, Array(7).fill('backup.create')]);
  }));

test('what holds the key takes a session to be made, and what is not encrypted one to be had', () =>
  withBackups(async ({ backups, noted, settings }) => {
    expect(await status(backups.create(PASSPHRASE, token))).toBe(403);
    const { name, size } = await backups.create(undefined, token);
    noted.length = 0;
    expect([await status(backups.download(name, token)), noted]).toEqual([403, []]);
    const { backup, file } = await backups.download(name, session);
    expect([backup.name, (await file.stat()).size, noted]).toEqual([name, size, ['backup.download']]);
    await file.close();
    settings.isTrailAway = true;
    expect(await status(backups.download(name, session))).toBe('the trail is away');
    expect(await status(backups.get('../encryption.key'))).toBe(400);
    expect(await status(backups.get(name.replace('manual', 'uploaded')))).toBe(404);
  }));

test('what is encrypted can be had with a token, opens with the stored passphrase, and is taken unread without one', () =>
  withBackups(async ({ backups, settings, upload, pathOf }) => {
    settings.passphrase = async () => PASSPHRASE;
    const { name, encrypted } = await backups.createAutomatic('before-test');
    expect(encrypted).toBe(true);
    await (await backups.download(name, token)).file.close();
    expect(await upload(pathOf(name))).toMatchObject({ encrypted: true, verified_at: expect.any(String) });
    settings.passphrase = async () => undefined;
    expect(await upload(pathOf(name))).toMatchObject({ encrypted: true, verified_at: null });
    expect(await status(upload(pathOf(name), 'another one'))).toBe(400);
    expect(await status(backups.openVerified(name, undefined))).toBe(400);
    // Who lost the key can make the one before a restore all the same, and is told when it is time for a scheduled one.
    settings.passphrase = () => Promise.reject(new Error('sealed with another key'));
    expect((await backups.createAutomatic('before-test')).encrypted).toBe(false);
    expect(await status(backups.createScheduled())).toBe('sealed with another key');
  }));

test('a damaged one is told, by a look at it as by a restore, and counts no more', () =>
  withBackups(async ({ backups, pathOf }) => {
    const older = await backups.create(undefined, session);
    const { name } = await backups.create(undefined, session);
    expect(await backups.verify(name, undefined)).toEqual({ valid: true, problems: [] });
    await (await backups.openVerified(name, undefined)).close();
    writeFileSync(pathOf(name), 'overwritten');
    expect(await backups.verify(name, undefined)).toEqual({ valid: false, problems: [expect.any(String)] });
    expect(await status(backups.openVerified(name, undefined))).toBe(400);
    expect((await backups.newestVerifiedBackup())?.name).toBe(older.name);
  }));

test('an uploaded one is read through, and nothing is kept of what is none', () =>
  withBackups(async ({ backups, upload, pathOf, noted, all }) => {
    const plain = await backups.create(undefined, session);
    noted.length = 0;
    expect(await upload(pathOf(plain.name))).toMatchObject({ kind: 'uploaded', verified_at: expect.any(String) });
    const bytes = readFileSync(pathOf(plain.name));
    writeFileSync(pathOf('cut'), bytes.subarray(0, bytes.length - 20));
    writeFileSync(pathOf('nonsense'), 'nonsense');
    expect([await status(upload(pathOf('cut'))), await status(upload(pathOf('nonsense')))]).toEqual([400, 400]);
    expect([noted, (await all()).length]).toEqual([['backup.upload'], 2]);
    expect(readdirSync(pathOf('')).filter((entry) => !/\.backup|^cut$|^nonsense$/.test(entry))).toEqual([]);
  }));

test('one is removed in the version that was seen, and that is written down', () =>
  withBackups(async ({ backups, noted, pathOf }) => {
    const made = await backups.create(undefined, session);
    const refused = () => {
      throw Object.assign(new Error('another version'), { status: 412 });
    };
    expect(await status(backups.remove(made.name, session, refused))).toBe(412);
    expect(statSync(pathOf(made.name)).size).toBe(made.size);
    await backups.remove(made.name, session);
    expect([basename(made.name), noted]).toEqual([made.name, ['backup.create', 'backup.delete']]);
    expect(await status(backups.remove(made.name, session))).toBe(404);
  }));

test('those who ask for backups wait for each other, but not in any number', () =>
  withBackups(async ({ backups }) => {
    const asked = Array.from({ length: 12 }, () => status(backups.create(undefined, session)));
    // What nobody asked for is made in any case.
    const own = backups.createAutomatic('before-test');
    const answers = await Promise.all(asked);
    expect(answers.filter((answer) => answer === 409).length).toBeGreaterThan(0);
    expect(answers.filter((answer) => answer === 'done').length).toBeGreaterThanOrEqual(8);
    expect((await own).kind).toBe('automatic');
    expect(await status(backups.create(undefined, session))).toBe('done');
  }));
