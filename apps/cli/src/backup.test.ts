import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

// Each command is a process of its own, several in one test.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

const MAIN = join(import.meta.dirname, 'main.ts');
const PASSPHRASE = 'nine patient herons';

const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-cli-'));
const run = async (args: string[], input = '') => {
  const { DATABASE_URL: _database, ...environment } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...environment, SALLYPORT_DATA_DIR: dataDir },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, out, err };
};
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
});
