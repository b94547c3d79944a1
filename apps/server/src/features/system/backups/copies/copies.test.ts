import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditEntry, Backup, BackupCopyTest, DescribedSetting, ErrorBody } from '@sallyport/contract';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../../../../../test/support/eventually.ts';
import { bearer, type Caller, createGiven } from '../../../../testing/given-accounts.ts';
import { startApp, type TestApp } from '../../../../testing/start-app.ts';
import { S3_KEY, startS3 } from '../../../../testing/start-s3.ts';

const PASSPHRASE = 'nine folded sails';
const NOTICE = 'Scheduled and automatic backups are not copied, because they are not encrypted. Set backup.passphrase.';
const SECRET = 'a secret that outlives each start of the server';
const HOUR_MS = 3_600_000;

let s3: Awaited<ReturnType<typeof startS3>>;
beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3.stop());

// On one store: what is copied lies in files, and what was is noted beside them.
describe('copies of backups elsewhere', () => {
  let app: TestApp;
  let admin: Caller;
  let now = new Date();
  let logged: string[] = [];

  beforeEach(async () => {
    now = new Date();
    logged = [];
    const log = pino({ level: 'error' }, { write: (line) => logged.push(line) });
    await s3.reset();
    app = await startApp('sqlite', { SALLYPORT_SESSION_SECRET: SECRET }, { clock: () => now, log });
    admin = await createGiven(app).administrator();
  });
  afterEach(() => app.stop());

  const send = <T = ErrorBody>(method: string, path: string, body?: unknown, headers = admin.headers) =>
    app.send<T>(method, path, body, headers);
  const set = async (settings: Record<string, string>) => {
    for (const [key, value] of Object.entries(settings)) {
      expect(await send('POST', '/settings', { key, value })).toMatchObject({ status: 200 });
    }
  };
  const copyToS3 = (more: Record<string, string> = {}) =>
    set({
      'backup.copy_access_key': S3_KEY.accessKey,
      'backup.copy_secret_key': S3_KEY.secretKey,
      'backup.copy_url': `${s3.url}/nightly`,
      ...more,
    });
  const tested = async () => (await send<BackupCopyTest>('POST', '/backups/copies/test')).body;
  const make = async (passphrase: string | undefined = PASSPHRASE) =>
    (await send<Backup>('POST', '/backups', passphrase === '' ? {} : { passphrase })).body;
  const list = async () => (await send<Backup[]>('GET', '/backups')).body;
  const find = async (name: string) => (await list()).find((backup) => backup.name === name);
  const problemOf = async (name: string) => (await find(name))?.copy_problem;
  const isCopied = async (name: string) => typeof (await find(name))?.copied_at === 'string';
  const there = () => s3.keys('nightly/');
  const failures = async () =>
    Number(/^sallyport_backup_copy_failures_total (\S+)$/m.exec(await (await fetch(`${app.url}/metrics`)).text())?.[1]);

  test('are the same bytes, of those that were there before and of those made since', async () => {
    const before = await make();
    expect(before).toMatchObject({ copied_at: null, copy_problem: '' });
    await copyToS3();
    expect(await tested()).toEqual({ copied: true, error: '', notice: NOTICE });
    const since = await make();
    for (const { name } of [before, since]) {
      await eventually(() => isCopied(name)).toBe(true);
      expect(s3.read(`nightly/${name}`)).toEqual(readFileSync(join(app.dataDir, 'backups', name)));
    }
    expect(there()).toEqual([before.name, since.name].sort());
    expect((await send<Backup>('GET', `/backups/${since.name}`)).body).toMatchObject({ copy_problem: '' });
    // What is deleted here is still there.
    expect((await send('DELETE', `/backups/${since.name}`)).status).toBe(204);
    expect(there()).toContain(since.name);
  });

  test('are made of what is encrypted only, unless somebody says otherwise; never of what was uploaded', async () => {
    await copyToS3();
    const { name } = await make('');
    await eventually(() => problemOf(name)).toMatch(/not encrypted/);
    const encrypted = await make();
    await eventually(() => isCopied(encrypted.name)).toBe(true);
    expect(there()).toEqual([encrypted.name]);
    // Nor over a connection that anybody can read.
    await set({ 'backup.copy_unencrypted': 'true' });
    expect(await problemOf(name)).toMatch(/http:\/\//);
    const form = new FormData();
    form.set('file', new Blob([readFileSync(join(app.dataDir, 'backups', name)) as Buffer<ArrayBuffer>]), 'x');
    const uploaded = (await send<Backup>('POST', '/backups/upload', form)).body;
    expect(uploaded).toMatchObject({ copied_at: null, copy_problem: 'it was uploaded' });
    // Somebody relies on scheduled ones.
    await set({ 'backup.copy_unencrypted': 'false', 'backup.schedule': '0 3 * * *' });
    await eventually(failures).toBeGreaterThan(0);
    expect(there()).toEqual([encrypted.name]);
  });

  test('that fail are told and tried again after a pause, the next ones in the same turn', async () => {
    await copyToS3();
    await s3.end();
    const first = await make();
    await eventually(() => problemOf(first.name)).toMatch(/ECONNREFUSED/);
    expect(await failures()).toBe(1);
    expect(logged.join('')).toContain('the backup could not be copied');
    const retryAt = (await find(first.name))?.copy_retry_at;
    expect(retryAt).toBe(new Date(now.getTime() + 60_000).toISOString());
    // To whoever gets notifications, as to whoever watches the live log.
    expect(logged.join('')).toContain(`"retry_at":"${retryAt}"`);
    const second = await make();
    await s3.startAgain();
    // Not before the pause is over.
    expect(there()).toEqual([]);
    now = new Date(now.getTime() + HOUR_MS);
    const third = await make();
    for (const { name } of [first, second, third]) await eventually(() => isCopied(name)).toBe(true);
    expect(await failures()).toBe(1);
  });

  test('that one start did not make, the next one makes', async () => {
    await copyToS3();
    await s3.end();
    const { name } = await make();
    await eventually(() => problemOf(name)).not.toBe('');
    await s3.startAgain();
    await app.restart();
    await eventually(() => isCopied(name)).toBe(true);
    await s3.end();
    // It is remembered: nothing is asked for once more.
    await app.restart();
    expect(await isCopied(name)).toBe(true);
    const next = await make();
    await eventually(() => problemOf(next.name)).toMatch(/ECONNREFUSED/);
    expect(await problemOf(name)).toBe('');
  });

  test('go as they go here, and nothing else that is there', async () => {
    await set({ 'backup.passphrase': PASSPHRASE, 'backup.keep': '2' });
    await copyToS3();
    const manual = await make();
    await eventually(() => isCopied(manual.name)).toBe(true);
    const scheduled = () => there().filter((key) => key.includes('-scheduled-'));
    await set({ 'backup.schedule': '0 * * * *' });
    await eventually(() => scheduled().length).toBe(1);
    const [first] = scheduled();
    // All that belongs to it is there, not the object alone.
    await eventually(() => isCopied(first ?? '')).toBe(true);
    // Of another deployment, and older than all of ours.
    const strange = 'sallyport-20200101-000000-scheduled-abcdef.backup';
    for (const suffix of ['._S3rver_object', '._S3rver_object.md5', '._S3rver_metadata.json']) {
      const path = (key: string) => join(s3.directory, 'kept/nightly', `${key}${suffix}`);
      writeFileSync(path(strange), readFileSync(path(first ?? '')));
    }
    for (let n = 0; n < 3; n++) {
      now = new Date(now.getTime() + HOUR_MS);
      const known = new Set(scheduled());
      await set({ 'backup.copy_region': `r${n}` });
      await eventually(() => scheduled().some((key) => !known.has(key))).toBe(true);
    }
    await eventually(() => scheduled().length).toBe(3);
    expect(scheduled()).toContain(strange);
    expect(scheduled()).not.toContain(first);
    expect(there()).toContain(manual.name);
  });

  test('are refused with the wrong key, to a bucket that is not there, and to metadata services', async () => {
    await copyToS3({ 'backup.copy_secret_key': 'another one' });
    const test = await tested();
    expect(test).toMatchObject({ copied: false, error: expect.stringMatching(/403: SignatureDoesNotMatch/) });
    const { name } = await make();
    await eventually(() => problemOf(name)).toMatch(/403: SignatureDoesNotMatch/);
    await copyToS3({ 'backup.copy_url': s3.url.replace('kept', 'other') });
    expect(await tested()).toMatchObject({ copied: false, error: expect.stringMatching(/404: NoSuchBucket/) });
    for (const host of ['169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]', 'metadata.google.internal']) {
      await copyToS3({ 'backup.copy_url': `http://${host}/kept` });
      expect(await tested(), host).toMatchObject({ copied: false, error: expect.stringMatching(/metadata address/) });
    }
    expect(s3.keys()).toEqual([]);
  });

  test('are set up and tested in a session of an administrator, and show no secret', async () => {
    await copyToS3();
    const apiToken = bearer((await createGiven(app).apiToken(admin, 'admin')).token);
    expect((await send('POST', '/backups/copies/test', undefined, apiToken)).status).toBe(403);
    const setting = { key: 'backup.copy_url', value: 'https://elsewhere.example.com/bucket' };
    expect((await send('POST', '/settings', setting, apiToken)).status).toBe(403);
    const { body } = await send<{ settings: DescribedSetting[] }>('GET', '/settings?per_page=100');
    const secret = body.settings.find(({ key }) => key === 'backup.copy_secret_key');
    expect(secret).toMatchObject({ value: '', is_secret: true, is_set: true });
    const trail = await send<AuditEntry[]>('GET', '/audit-logs');
    expect(JSON.stringify(trail.body.filter(({ resource }) => resource.includes('secret_key')))).not.toContain(
      'S3RVER',
    );
    await set({ 'backup.copy_url': '' });
    expect(await tested()).toEqual({ copied: false, error: 'backup.copy_url is not set', notice: '' });
  });
});
