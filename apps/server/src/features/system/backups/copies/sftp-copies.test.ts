import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backup, BackupCopyTest, BackupReport, DescribedSetting, ErrorBody, Setting } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { makeCertificate, uploadForm } from '../../../../../../../test/support/certificates.ts';
import { eventually } from '../../../../../../../test/support/eventually.ts';
import { bearer, type Caller, createGiven } from '../../../../testing/given-accounts.ts';
import { startApp, type TestApp } from '../../../../testing/start-app.ts';
import { startSshd } from '../../../../testing/start-sshd.ts';

// A passphrase takes half a second of a core each time.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const PASSPHRASE = 'nine folded sails';
const STORED = 'eleven wooden bridges';
const NOTICE = 'Scheduled and automatic backups are not copied, because they are not encrypted. Set backup.passphrase.';
let app: TestApp;
let admin: Caller;
let sshd: Awaited<ReturnType<typeof startSshd>>;

beforeAll(async () => {
  sshd = await startSshd();
  app = await startApp('sqlite');
  admin = await createGiven(app).administrator();
});
afterAll(async () => {
  await app.stop();
  await sshd.stop();
});

const send = <T = ErrorBody>(method: string, path: string, body?: unknown) =>
  app.send<T>(method, path, body, admin.headers);
const set = async (key: string, value: string) => {
  expect(await send('POST', '/settings', { key, value })).toMatchObject({ status: 200 });
};
const tested = async () => (await send<BackupCopyTest>('POST', '/backups/copies/test')).body;
const make = async () => (await send<Backup>('POST', '/backups', { passphrase: PASSPHRASE })).body.name;
const find = async (name: string) => (await send<Backup>('GET', `/backups/${name}`)).body;
const isCopied = async (name: string) => typeof (await find(name)).copied_at === 'string';

test('backups are copied by SFTP, to the host whose key an administrator has compared, and to no other', async () => {
  await set('backup.copy_url', sshd.url);
  const unknown = await tested();
  expect(unknown).toMatchObject({ copied: false, error: expect.stringContaining(`the key ${sshd.fingerprint}`) });
  await set('backup.copy_host_key', sshd.fingerprint);
  expect(await tested()).toEqual({ copied: false, error: 'backup.copy_private_key is not set', notice: NOTICE });
  await set('backup.copy_private_key', sshd.privateKey);
  expect(await tested()).toEqual({ copied: true, error: '', notice: NOTICE });
  const first = await make();
  await eventually(() => isCopied(first)).toBe(true);
  expect(readdirSync(sshd.files)).toEqual([first]);
  expect(readFileSync(join(sshd.files, first))).toEqual(readFileSync(join(app.dataDir, 'backups', first)));

  const told: string[] = [];
  const live = new WebSocket(`${app.url.replace('http', 'ws')}/api/v1/logs/live`, { headers: admin.headers });
  live.on('message', (data) => told.push(String(data)));
  await once(live, 'open');
  const fresh = await sshd.changeKey();
  const second = await make();
  await eventually(async () => (await find(second)).copy_problem).toContain(
    `shows the key ${fresh}, but backup.copy_host_key is ${sshd.fingerprint}`,
  );
  expect(Date.parse((await find(second)).copy_retry_at ?? '')).toBeGreaterThan(Date.now() - 1_000);
  await eventually(() => told.join('')).toMatch(
    /could not be copied: the SFTP host shows the key .* it is tried again at 2/,
  );
  live.terminate();
  expect(readdirSync(sshd.files)).toEqual([first]);
  await set('backup.copy_host_key', `${sshd.fingerprint} ${fresh}`);
  await eventually(() => isCopied(second)).toBe(true);
  expect(await find(second)).toMatchObject({ copy_problem: '', copy_retry_at: null });
  expect(readdirSync(sshd.files)).toEqual([first, second].sort());
});

test('with a passphrase in the settings what is made by itself is encrypted, copied, and opened with it', async () => {
  const change = async (key: string, value: string) => (await send<Setting>('POST', '/settings', { key, value })).body;
  expect((await change('backup.keep', '14')).notice).toBe(NOTICE);
  expect((await change('smtp.host', '')).notice).toBe(undefined);
  expect((await change('backup.passphrase', STORED)).notice).toBe(undefined);
  expect(await tested()).toEqual({ copied: true, error: '', notice: '' });
  const form = uploadForm('site', makeCertificate(['site.example.com']));
  const { id } = (await send<{ id: number }>('POST', '/certificates/upload', form)).body;
  expect((await send('DELETE', `/certificates/${id}`)).status).toBe(200);
  const [made] = (await send<Backup[]>('GET', '/backups?search=automatic')).body;
  expect(made).toMatchObject({ reason: 'before-certificate-delete', encrypted: true });
  const name = made?.name ?? '';
  await eventually(() => isCopied(name)).toBe(true);
  expect(readdirSync(sshd.files)).toContain(name);

  const verify = async (of: string, passphrase?: string, headers = admin.headers) =>
    (await app.send<BackupReport>('POST', `/backups/${of}/verify`, passphrase ? { passphrase } : {}, headers)).body;
  const token = bearer((await createGiven(app).apiToken(admin, 'admin')).token);
  expect(await verify(name, undefined, token)).toEqual({ valid: true, problems: [] });
  const rehearse = (of: string, headers = admin.headers) =>
    app.send<ErrorBody>('POST', `/backups/${of}/restore`, { dry_run: true }, headers);
  expect(await rehearse(name)).toMatchObject({ status: 200, body: { restored: false } });
  expect((await rehearse(name, token)).status).toBe(403);
  // Made with another one.
  const manual = await make();
  const error = expect.stringMatching(/another passphrase than backup\.passphrase/);
  expect(await rehearse(manual)).toMatchObject({ status: 400, body: { error } });

  const { notice = '' } = await change('backup.passphrase', 'a quite different one');
  expect(notice).toMatch(/opens with the passphrase it was made with, and no other: keep that one\.$/);
  expect(await verify(name, STORED)).toEqual({ valid: true, problems: [] });
  expect((await change('backup.passphrase', '')).notice).toContain(NOTICE);
  await set('backup.copy_unencrypted', 'true');
  // SFTP is encrypted on the way.
  expect(await tested()).toMatchObject({ copied: true, notice: '' });
});

test('what signs in is never shown, and is refused when it is not what it must be', async () => {
  const { body } = await send<{ settings: DescribedSetting[] }>('GET', '/settings?search=backup.copy_&per_page=100');
  const secrets = body.settings.filter(({ is_secret }) => is_secret).map(({ key, value }) => [key, value]);
  expect(secrets).toEqual([
    ['backup.copy_secret_key', ''],
    ['backup.copy_private_key', ''],
    ['backup.copy_password', ''],
  ]);
  for (const [key, value, error] of [
    ['backup.copy_private_key', 'a word', /^value must be a private key/],
    ['backup.copy_host_key', 'a word', /^value must be SHA256/],
    ['backup.copy_url', 'sftp://127.0.0.1/x', /^value must be sftp:\/\/user@host/],
  ]) {
    const refused = await send('POST', '/settings', { key, value });
    expect(refused).toMatchObject({ status: 400, body: { error: expect.stringMatching(error as RegExp) } });
  }
});
