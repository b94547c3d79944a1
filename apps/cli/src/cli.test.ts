import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { adminSocket, proxyDirectory } from '@sallyport/deployment/places';
import { PASSWORD } from '@sallyport/server/testing/given-accounts';
import { emptyStore } from '@sallyport/server/testing/start-app';
import { newKey, replaceKey } from '@sallyport/store/secrets/key-file';
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { isRoot } from '../../../test/support/is-root.ts';
import { sallyport as run } from '../../../test/support/sallyport-command.ts';

const MAIN = join(import.meta.dirname, 'main.ts');

let fresh: Promise<string> | undefined;
/** Puts a store into the directory that `migrate` has made, once for all tests. */
const migrated = async (dataDir: string): Promise<void> => {
  fresh ??= (async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sallyport-cli-'));
    expect(await run(directory, ['migrate'])).toMatchObject({ code: 0, err: '' });
    return directory;
  })();
  cpSync(await fresh, dataDir, { recursive: true });
};
afterAll(async () => {
  if (fresh) rmSync(await fresh, { recursive: true });
});

describe('without a server', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'sallyport-cli-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  test('makes a store only when it is told to, and says what it did', async () => {
    const users = await run(dataDir, ['user', 'list']);
    expect(users).toMatchObject({ code: 1, out: '', err: expect.stringContaining('holds no store') });
    const first = await run(dataDir, ['migrate']);
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toContain('applied 0001-routes\n');
    expect(await run(dataDir, ['migrate'])).toEqual({
      code: 0,
      out: 'the store is up to date; nothing was changed\n',
      err: '',
    });
  });

  test('tells of all commands who asks which there are, and of one who asks for that', async () => {
    const commands = ['user', 'backup', 'certificate', 'apply', 'emergency'];
    const told = async (...args: string[]) => {
      const { out, err } = await run(dataDir, args);
      return commands.filter((name) => new RegExp(`^  ${name} `, 'm').test(out + err));
    };
    for (const args of [['--help'], ['help'], [], ['--help', 'user']]) expect(await told(...args)).toEqual(commands);
    for (const args of [
      ['user', '--help'],
      ['help', 'user'],
    ]) {
      expect((await run(dataDir, args)).out).toContain('Usage: sallyport user ');
      expect(await told(...args)).toEqual([]);
    }
    expect(await run(dataDir, ['nonsense'])).toMatchObject({ code: 1, err: "error: unknown command 'nonsense'\n" });
  });

  test('adds an administrator who can then sign in, and records who did it', async () => {
    await migrated(dataDir);
    const created = await run(
      dataDir,
      ['user', 'create-admin', 'Root@Example.com', '--name', 'Root', '--password-stdin'],
      {
        input: `${PASSWORD}\n`,
      },
    );
    expect(created).toEqual({ code: 0, out: 'administrator root@example.com added\n', err: '' });
    const again = await run(dataDir, ['user', 'create-admin', 'root@example.com']);
    expect(again).toMatchObject({
      code: 1,
      out: '',
      err: 'sallyport: A user with this e-mail address already exists\n',
    });
    const generated = await run(dataDir, ['user', 'create-admin', 'other@example.com']);
    expect(generated.out).toMatch(/^password: [\w-]{20}$/m);
    expect((await run(dataDir, ['user', 'list'])).out).toMatch(/root@example\.com\s+admin\s+active\s+no\s+never/);
    expect((await run(dataDir, ['audit', 'verify'])).out).toBe('2 entries, all intact\n');
  });

  test.each([
    [['user', 'create-admin', 'nobody'], 'email must be a valid e-mail address'],
    [['user', 'create-admin', 'a@example.com', '--password-stdin'], 'standard input holds no password'],
    [['user', 'reset-password', 'a@example.com'], 'no user has the address a@example.com'],
    [['token', 'create', '--user', 'a@example.com', '--name', 'x'], 'no user has the address a@example.com'],
    [
      ['token', 'create', '--user', 'a@example.com', '--name', 'x', '--expires-days', '0'],
      'must be a whole number of days',
    ],
    [
      ['token', 'create', '--user', 'a@example.com', '--name', 'x', '--role', 'root'],
      'Allowed choices are admin, user',
    ],
    [['token', 'revoke', 'x'], 'must be the number that "token list" shows'],
    [['token', 'revoke', '7'], 'Token not found'],
    [['history', 'revert', 'x'], 'must be the number of a change or the batch'],
    [['history', 'revert', '7'], 'there is no active administrator'],
    [['history', 'list', '--limit', '0'], 'must be a number from 1 to 1000'],
    [['keys', 'forget', '../../etc'], 'no key ../../etc is kept'],
    [['nonsense'], 'unknown command'],
  ])('refuses %j', async (args, message) => {
    await migrated(dataDir);
    expect(await run(dataDir, args)).toMatchObject({ code: 1, err: expect.stringContaining(message) });
  });

  test('checks the configuration and names what is wrong, without its value', async () => {
    expect(await run(dataDir, ['config', 'check'])).toMatchObject({ code: 0, err: '' });
    const bad = await run(dataDir, ['config', 'check'], {
      env: { SALLYPORT_SESSION_SECRET: 'too-short-secret', SALLYPORT_TYPO: 'x' },
    });
    expect(bad).toMatchObject({ code: 1, out: '' });
    expect(bad.err).toContain('SALLYPORT_SESSION_SECRET must be at least 32 characters');
    expect(bad.err).toContain('SALLYPORT_TYPO');
    expect(bad.err).not.toContain('too-short-secret');
  });

  test('says in one line why a store can’t be used', async () => {
    writeFileSync(join(dataDir, 'sallyport.db'), 'no database, however long one looks at it');
    const oneLine = async (args: string[], env: object, message: string) => {
      const { code, err } = await run(dataDir, args, { env });
      expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(message) });
      expect(err.trim().split('\n')).toHaveLength(1);
      expect(err).not.toMatch(/Error:|node_modules/);
    };
    await oneLine(['user', 'list'], {}, 'the store can not be used: file is not a database');
    await oneLine(['migrate'], {}, 'the store can not be used: file is not a database');
    rmSync(join(dataDir, 'sallyport.db'));
    await oneLine(['user', 'list'], { DATABASE_URL: 'postgres://u:hidden@127.0.0.1:1/x' }, 'ECONNREFUSED 127.0.0.1:1');
    await migrated(dataDir);
    await run(dataDir, ['user', 'create-admin', 'a@example.com']);
    writeFileSync(join(dataDir, 'encryption.key'), `${randomBytes(32).toString('base64')}\n`);
    await oneLine(['user', 'create-admin', 'b@example.com'], {}, 'the encryption key is not the one of this store');
    await oneLine(['audit', 'verify'], {}, 'the encryption key is not the one of this store');
    rmSync(join(dataDir, 'encryption.key'));
    await oneLine(['audit', 'verify'], {}, 'encryption.key is missing, and the store is sealed with the key');
    expect(readdirSync(dataDir)).not.toContain('encryption.key');
    writeFileSync(join(dataDir, 'encryption.key'), 'short');
    await oneLine(['audit', 'verify'], {}, 'does not hold a key of 32 bytes');
    chmodSync(dataDir, 0o755);
    await oneLine(['migrate'], {}, 'is open to others');
  });

  /** Runs a command at a terminal of its own, and types once it asks. */
  const atTerminal = async (args: string, typed: string): Promise<{ code: number | null; shown: string }> => {
    const child = spawn('script', ['-qec', `${process.execPath} ${MAIN} ${args}`, '/dev/null'], {
      env: { ...process.env, SALLYPORT_DATA_DIR: dataDir },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const isAsked = !shown.includes('Password: ') && (shown + chunk).includes('Password: ');
      shown += chunk;
      if (isAsked) child.stdin.write(typed);
    });
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    return { code, shown };
  };

  test('asks at a terminal without showing what is typed', async () => {
    await migrated(dataDir);
    const created = await atTerminal('user create-admin a@example.com --password-stdin', 'correct horsx\u007fe\r');
    expect(created).toMatchObject({ code: 0, shown: expect.stringContaining('administrator a@example.com added') });
    expect(created.shown).not.toContain('hors');
    const cancelled = await atTerminal('user create-admin b@example.com --password-stdin', 'correct\u0003');
    expect(cancelled).toMatchObject({ code: 130, shown: expect.stringContaining('cancelled') });
  });

  test('ends quietly when nobody reads on', async () => {
    await migrated(dataDir);
    const child = spawn(process.execPath, [MAIN, 'user', 'create-admin', 'a@example.com'], {
      env: { ...process.env, SALLYPORT_DATA_DIR: dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    expect(await text(child.stderr)).toBe('');
    expect(await ended).toBe(0);
  });

  test('shows control characters in names instead of obeying them', async () => {
    await migrated(dataDir);
    await run(dataDir, ['user', 'create-admin', 'a@example.com']);
    await run(dataDir, ['token', 'create', '--user', 'a@example.com', '--name', '\u001b[31mred\u202e']);
    expect((await run(dataDir, ['token', 'list'])).out).toContain('1   \ufffd[31mred\ufffd  user');
  });

  test('keeps a key that still seals something', async () => {
    await migrated(dataDir);
    await run(dataDir, ['user', 'create-admin', 'a@example.com']);
    // As a rotation leaves it that was killed before its commit.
    const old = /^(\w{8}) in use/.exec((await run(dataDir, ['keys', 'list'])).out)?.[1] ?? '';
    replaceKey(dataDir, newKey(), old);
    expect(await run(dataDir, ['keys', 'forget', old])).toMatchObject({
      code: 1,
      err: expect.stringContaining(`key ${old} still seals 1 secrets`),
    });
    expect((await run(dataDir, ['audit', 'verify'])).code).toBe(0);
    expect((await run(dataDir, ['keys', 'rotate'])).code).toBe(0);
    expect(await run(dataDir, ['keys', 'forget', old])).toMatchObject({ code: 0, out: `key ${old} forgotten\n` });
    expect((await run(dataDir, ['audit', 'verify'])).code).toBe(0);
  });

  test.runIf(isRoot)('leaves nothing that the owner of the directory can’t read', async () => {
    chownSync(dataDir, 65_534, 65_534);
    await run(dataDir, ['migrate']);
    await run(dataDir, ['user', 'create-admin', 'a@example.com']);
    await run(dataDir, ['keys', 'rotate']);
    const foreign = readdirSync(dataDir).filter((name) => statSync(join(dataDir, name)).uid !== 65_534);
    expect(foreign).toEqual([]);
  });

  test('tells that the server is away', async () => {
    await migrated(dataDir);
    await run(dataDir, ['user', 'create-admin', 'root@example.com']);
    const revert = await run(dataDir, ['history', 'revert', '7']);
    expect(revert).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Sallyport has to run for that') });
    expect((await run(dataDir, ['token', 'list'])).out).not.toContain('history');
    expect(await run(dataDir, ['status'])).toMatchObject({
      code: 3,
      out: expect.stringContaining('schema: up to date'),
      err: expect.stringContaining('not answering'),
    });
  });

  test('seals for a key that the deployment gives', async () => {
    const env = { SALLYPORT_ENCRYPTION_KEY: 'the first key of the deployment, long' };
    await run(dataDir, ['migrate'], { env });
    await run(dataDir, ['user', 'create-admin', 'a@example.com'], { env });
    const file = join(dataDir, 'next.key');
    writeFileSync(file, 'the second key of the deployment, long\n');
    expect(await run(dataDir, ['keys', 'rotate'], { env })).toMatchObject({ code: 1 });
    const rotated = await run(dataDir, ['keys', 'rotate', '--new-key-file', file], { env });
    expect(rotated).toMatchObject({ code: 0, err: '', out: expect.stringContaining('1 secrets sealed') });
    expect(await run(dataDir, ['audit', 'verify'], { env })).toMatchObject({
      code: 1,
      err: expect.stringContaining('key in use'),
    });
    const next = { SALLYPORT_ENCRYPTION_KEY: 'the second key of the deployment, long' };
    expect((await run(dataDir, ['audit', 'verify'], { env: next })).out).toBe('2 entries, all intact\n');
  });
});

describe('the store', () => {
  test('is not copied to where it is, nor to where somebody could read the password', async () => {
    await emptyStore('sqlite', async ({ dataDir }) => {
      await migrated(dataDir);
      const copy = async (...target: string[]) => (await run(dataDir, ['store', 'copy', ...target])).err;
      expect(await copy('--to', `sqlite:${dataDir}`)).toContain('that is the store itself');
      for (const url of ['postgres://u:hidden@127.0.0.1/x', 'postgres://127.0.0.1/x?user=u&password=hidden']) {
        expect(await copy('--to', url)).toMatch(/would show the password(?!.*hidden)/s);
      }
      expect(await copy('--to', 'mysql://127.0.0.1/x')).toContain('must be postgres://… or sqlite:DIRECTORY');
      expect(await copy()).toContain('name the target');
    });
  });
});

test('the emergency reset is stored while HAProxy hangs, and tells that it does', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-cli-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  await migrated(dataDir);
  mkdirSync(proxyDirectory(dataDir), { recursive: true });
  const asked = new Set<Socket>();
  // Takes every question, and answers none.
  const silent = createServer((socket) => void asked.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => silent.listen(adminSocket(dataDir), resolve));
  onTestFinished(() => void silent.close());
  const ended = run(dataDir, ['emergency', 'reset']);
  await expect.poll(() => asked.size).toBe(1);
  await expect.poll(async () => (await run(dataDir, ['audit', 'verify'])).out).toMatch(/^1 entry, intact/);
  // It has not asked all that it asks one after the other, each for seconds.
  expect(asked.size).toBeLessThan(3);
  await new Promise<void>((resolve) => {
    silent.close(() => resolve());
    for (const socket of asked) socket.destroy();
  });
  const { code, out } = await ended;
  expect({ code, out }).toMatchObject({
    code: 0,
    out: expect.stringMatching(/the proxy was not told \(.+\); it starts open/),
  });
});

describe('the drill of the emergency path', () => {
  test('tells what is amiss, writes it down, and is not made again at once', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-cli-'));
    onTestFinished(() => rmSync(dataDir, { recursive: true }));
    expect((await run(dataDir, ['emergency', 'drill'])).err).toContain('holds no store');
    await migrated(dataDir);
    const env = { SALLYPORT_EMERGENCY_TOKEN: 'f'.repeat(32) };
    const made = await run(dataDir, ['emergency', 'drill'], { env });
    expect(made).toMatchObject({ code: 1, err: 'sallyport: not proven; last proven: never\n' });
    expect(made.out).toMatch(/^token +ok /m);
    expect(made.out).toMatch(/^listener +NOT OK +There is no second way in: set SALLYPORT_EMERGENCY_BIND/m);
    expect(made.out).toMatch(/^store +ok /m);
    expect(made.out).toMatch(/^proxy +NOT OK /m);
    const again = await run(dataDir, ['emergency', 'drill'], { env });
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining('less than 10 seconds ago') });
    expect((await run(dataDir, ['audit', 'verify'])).out).toBe('1 entry, intact\n');
  });
});
