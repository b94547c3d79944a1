import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emptyStore } from '@sallyport/server/testing/start-app';
import pg from 'pg';
import { expect, test } from 'vitest';
import { sallyport as run } from '../support/sallyport-command.ts';

// Each command is a process of its own.
test('the store is copied to PostgreSQL and back, trail included', async () => {
  await emptyStore('sqlite', async ({ dataDir }) => {
    await run(dataDir, ['migrate']);
    await run(dataDir, ['user', 'create-admin', 'root@example.com']);
    await emptyStore('postgres', async ({ databaseUrl }) => {
      const url = join(dataDir, 'url');
      writeFileSync(url, `${databaseUrl}\n`);
      const there = await run(dataDir, ['store', 'copy', '--to-file', url]);
      expect(there).toMatchObject({ code: 0, err: '' });
      expect(there.out).toMatch(/^\d+ rows copied; the audit trail verifies\nnow set DATABASE_URL/);
      const env = { DATABASE_URL: databaseUrl };
      expect((await run(dataDir, ['audit', 'verify'], { env })).out).toBe('2 entries, all intact\n');
      expect((await run(dataDir, ['user', 'list'], { env })).out).toContain('root@example.com');
      const again = await run(dataDir, ['store', 'copy', '--to-file', url]);
      expect(again).toMatchObject({ code: 1, err: expect.stringContaining('the target is in use') });
      const occupied = await run(dataDir, ['store', 'copy', '--to', `sqlite:${dataDir}`], { env });
      expect(occupied).toMatchObject({ code: 1, err: expect.stringContaining('the target is in use') });
      await emptyStore('sqlite', async ({ dataDir: other }) => {
        const back = await run(dataDir, ['store', 'copy', '--to-file', '-'], { env, input: `sqlite:${other}\n` });
        expect(back).toMatchObject({ code: 0, err: '' });
        expect(back.out).toContain(`now copy ${dataDir}/encryption.key to ${other}`);
        copyFileSync(join(dataDir, 'encryption.key'), join(other, 'encryption.key'));
        expect((await run(other, ['audit', 'verify'])).out).toBe('3 entries, all intact\n');
      });
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      const used = await run(dataDir, ['store', 'copy', '--to', `sqlite:${dataDir}/new`], { env });
      expect(used).toMatchObject({ code: 1, err: expect.stringContaining('1 other connections use this store') });
      await client.end();
    });
  });
});
