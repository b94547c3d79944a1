import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backup, BackupCopyTest, DescribedSetting, ErrorBody } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../../../../test/support/eventually.ts';
import { type Caller, createGiven } from '../../../../testing/given-accounts.ts';
import { startApp, type TestApp } from '../../../../testing/start-app.ts';
import { startSshd } from '../../../../testing/start-sshd.ts';

const PASSPHRASE = 'nine folded sails';
let app: TestApp;
let admin: Caller;
let sshd: Awaited<ReturnType<typeof startSshd>>;

beforeAll(async () => {
  sshd = await startSshd();
  app = await startApp('sqlite');
  admin = await createGiven(app).administrator();
}, 60_000);
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
  expect(await tested()).toEqual({ copied: false, error: 'backup.copy_private_key is not set' });
  await set('backup.copy_private_key', sshd.privateKey);
  expect(await tested()).toEqual({ copied: true, error: '' });
  const first = await make();
  await eventually(() => isCopied(first)).toBe(true);
  expect(readdirSync(sshd.files)).toEqual([first]);
  expect(readFileSync(join(sshd.files, first))).toEqual(readFileSync(join(app.dataDir, 'backups', first)));

  const fresh = await sshd.changeKey();
  const second = await make();
  await eventually(async () => (await find(second)).copy_problem).toContain(
    `shows the key ${fresh}, but backup.copy_host_key is ${sshd.fingerprint}`,
  );
  expect(readdirSync(sshd.files)).toEqual([first]);
  await set('backup.copy_host_key', `${sshd.fingerprint} ${fresh}`);
  await eventually(() => isCopied(second)).toBe(true);
  expect(readdirSync(sshd.files)).toEqual([first, second].sort());
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
