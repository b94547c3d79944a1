import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { emptyStore, startApp } from '@sallyport/server/testing/start-app';
import { openDatabase } from '@sallyport/store/database/open';
import { expect, onTestFinished, test } from 'vitest';

// Each command is a process of its own.
const MAIN = join(import.meta.dirname, '../../apps/cli/src/main.ts');
const PASSPHRASE = 'seven quiet harbours';

const run = async (dataDir: string, args: string[], env: object = {}) => {
  const { DATABASE_URL: _database, ...environment } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...environment, SALLYPORT_DATA_DIR: dataDir, SALLYPORT_HTTP_BIND: '127.0.0.1:1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, out, err };
};

test.each(['sqlite', 'postgres'] as const)(
  'a new store (%s) takes all of a backup, accounts and trail included',
  (kind) =>
    emptyStore('sqlite', async ({ dataDir }) => {
      const words = join(dataDir, 'words');
      writeFileSync(words, `${PASSPHRASE}\n`);
      await run(dataDir, ['migrate']);
      await run(dataDir, ['user', 'create-admin', 'root@example.com']);
      const locked = (await run(dataDir, ['backup', 'create', '--passphrase-file', words])).out.trim();
      const plain = (await run(dataDir, ['backup', 'create'])).out.trim();
      const at = (name: string) => join(dataDir, 'backups', name);

      await emptyStore(kind, async ({ dataDir: fresh, databaseUrl }) => {
        const there = (args: string[]) =>
          run(fresh, args, databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl });
        expect(await there(['backup', 'restore', at(plain)])).toMatchObject({
          code: 1,
          err: expect.stringMatching(/sealed with key [0-9a-f]{8}, and this deployment has key [0-9a-f]{8}/),
        });
        const given = ['--passphrase-file', words];
        const tried = await there(['backup', 'restore', '--dry-run', at(locked), ...given]);
        expect(tried).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/^users +1 +0 +0$/m) });
        expect((await there(['user', 'list'])).out).not.toContain('root@example.com');

        const restored = await there(['backup', 'restore', at(locked), ...given]);
        expect(restored).toMatchObject({ code: 0, err: '', out: expect.stringContaining('now start Sallyport') });
        expect((await there(['user', 'list'])).out).toContain('root@example.com');
        expect((await there(['audit', 'verify'])).out).toMatch(/^\d+ entries, all intact$/m);

        // In use by now: accounts stay, and what is there is backed up.
        await there(['user', 'create-admin', 'since@example.com']);
        const again = await there(['backup', 'restore', at(locked), ...given]);
        expect(again).toMatchObject({
          code: 0,
          err: '',
          out: expect.stringContaining('what was there is in sallyport-'),
        });
        expect((await there(['user', 'list'])).out).toContain('since@example.com');
        expect((await there(['audit', 'verify'])).out).toMatch(/^\d+ entries, all intact$/m);
      });
    }),
);

test('a row that could not have been made here is refused as the API refuses it', async () => {
  const app = await startApp('sqlite');
  onTestFinished(() => app.stop());
  const host = { domain: 'site.example.com', forward_host: '192.0.2.1', forward_port: 80 };
  expect(await app.send('POST', '/proxy-hosts', host)).toMatchObject({ status: 201 });
  const backUp = async (limit: number | null) => {
    const database = openDatabase(app.config);
    await database.kysely.updateTable('proxy_hosts').set({ waf_body_limit: limit }).execute();
    await database.stop();
    const { out } = await run(app.dataDir, ['backup', 'create']);
    return join(app.dataDir, 'backups', out.trim());
  };
  const [planted, sound] = [await backUp(-1), await backUp(null)];
  const key = readFileSync(join(app.dataDir, 'encryption.key'), 'utf8');
  await emptyStore('sqlite', async ({ dataDir }) => {
    writeFileSync(join(dataDir, 'encryption.key'), key, { mode: 0o600 });
    expect(await run(dataDir, ['backup', 'restore', planted])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^sallyport: proxy host site\.example\.com: waf_body_limit .*\n$/),
    });
    expect(await run(dataDir, ['backup', 'restore', sound])).toMatchObject({ code: 0, err: '' });
  });
});
