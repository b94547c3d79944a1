import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createShelf } from '@sallyport/backup/shelf/shelf';
import { openDatabase } from '@sallyport/store/database/open';
import { settingContext } from '@sallyport/store/secrets/contexts';
import { openVault } from '@sallyport/store/secrets/vault';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bareEnvironment } from '../../../test/support/bare-environment.ts';
import { sallyport } from '../../../test/support/sallyport-command.ts';
import { until } from '../../../test/support/until.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const PASSPHRASE = 'nine patient herons';

const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-cli-'));
const run = (args: string[], input = '') => sallyport(dataDir, args, { input });
const ok = async (args: string[], input?: string): Promise<string> => {
  const outcome = await run(args, input);
  expect(outcome, args.join(' ')).toMatchObject({ code: 0, err: '' });
  return outcome.out.trim();
};

beforeAll(async () => {
  await ok(['migrate']);
  await ok(['user', 'create-admin', 'root@example.com', '--password-stdin'], 'correct horse battery');
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test('makes, lists, verifies, copies and deletes backups', async () => {
  const name = await ok(['backup', 'create']);
  expect(name).toMatch(/^sallyport-\d{8}-\d{6}-manual-[0-9a-f]{6}\.backup$/);
  expect(await ok(['backup', 'list'])).toMatch(new RegExp(`^${name}  \\d+  .* no +\\d{4}-`, 'm'));
  expect(await ok(['backup', 'verify', name])).toBe('the backup is whole');
  const copy = join(dataDir, 'copy');
  expect(await ok(['backup', 'download', name, copy])).toMatch(/^[0-9a-f]{64} {2}/);
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect(await run(['backup', 'download', name, copy])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/already/),
  });
  expect(await ok(['backup', 'delete', name])).toBe(`${name} deleted`);
  expect(await run(['backup', 'delete', name])).toMatchObject({ code: 1, err: expect.stringMatching(/no backup/) });
  // The copy is a backup without the deployment that made it.
  expect(await ok(['backup', 'verify', copy])).toBe('the backup is whole');
  const bytes = readFileSync(copy);
  writeFileSync(copy, bytes.subarray(0, -1));
  expect(await run(['backup', 'verify', copy])).toMatchObject({ code: 1, err: 'sallyport: the backup is cut off\n' });
});

test('takes a passphrase from standard input or a file, never as an argument', async () => {
  const short = await run(['backup', 'create', '--passphrase-file', '-'], 'short\n');
  expect(short).toMatchObject({ code: 1, err: expect.stringMatching(/12 characters/) });
  const name = await ok(['backup', 'create', '--passphrase-file', '-'], `${PASSPHRASE}\n`);
  const file = join(dataDir, 'passphrase');
  writeFileSync(file, `${PASSPHRASE}\n`);
  expect(await ok(['backup', 'verify', name, '--passphrase-file', file])).toBe('the backup is whole');
  const without = await run(['backup', 'verify', name]);
  expect(without).toMatchObject({ code: 1, err: expect.stringMatching(/encrypted/) });
  expect((await run(['backup', 'create', '--passphrase', PASSPHRASE])).code).toBe(1);
  // Unless the deployment keeps it.
  const database = openDatabase({ dataDir, databaseUrl: undefined });
  const vault = openVault({ dataDir, encryptionKey: undefined });
  const value = vault.seal(PASSPHRASE, settingContext('backup.passphrase'));
  await database.kysely.insertInto('settings').values({ key: 'backup.passphrase', value }).execute();
  await database.stop();
  expect(await ok(['backup', 'verify', name])).toBe('the backup is whole');
});

test('leaves whole backups only, wherever its process is killed', async () => {
  const directory = join(dataDir, 'backups');
  const drafts = () => readdirSync(directory).filter((name) => name.endsWith('.draft'));
  /** The moments in which a process is killed: a file is begun, has so many bytes, is about to get its name. */
  for (const bytes of [0, 1, 65_000, 66_000, 70_000]) {
    for (const name of drafts()) rmSync(join(directory, name));
    const child = spawn(process.execPath, [MAIN, 'backup', 'create'], {
      env: { ...bareEnvironment, SALLYPORT_DATA_DIR: dataDir },
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => child.once('close', resolve));
    const hasBytes = () =>
      child.exitCode !== null ||
      drafts().some((name) => (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? -1) >= bytes);
    await until(`a draft has ${bytes} bytes`, async () => hasBytes() || undefined);
    child.kill('SIGKILL');
    await ended;
  }
  for (const { name } of await createShelf(dataDir).list()) {
    const outcome = await run(['backup', 'verify', name]);
    expect(outcome.err, name).toMatch(/^$|encrypted/);
  }
  await createShelf(dataDir).tidy();
  expect(readdirSync(directory).filter((name) => !/^sallyport-[\w-]+\.backup(\.note)?$/.test(name))).toEqual([]);
});
