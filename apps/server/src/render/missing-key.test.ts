import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Config } from '@sallyport/deployment/config';
import { ConfigError } from '@sallyport/deployment/config';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { bareEnvironment } from '../../../../test/support/bare-environment.ts';
import { startServer } from '../server.ts';
import { emptyStore, onBothDatabases } from '../testing/start-app.ts';

const log = pino({ level: 'silent' });

const render = async ({ dataDir, databaseUrl }: Config) => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    env: {
      ...bareEnvironment,
      SALLYPORT_DATA_DIR: dataDir,
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { said: await text(child.stderr), code: await code };
};

onBothDatabases('a store whose key file is missing', (kind) => {
  test('is refused before another key is made, and opens when the file is back', () =>
    emptyStore(kind, async (given) => {
      const config = { ...given, httpBind: { host: '127.0.0.1', port: 0 } };
      // Empty and without a key: one is made.
      const server = await startServer(config, log);
      const made = await fetch(`${server.url}/api/v1/proxy-hosts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ domain: 'a.example.com', forward_host: '127.0.0.1', forward_port: 9 }),
      });
      expect(made.status).toBe(201);
      await server.stop();

      const path = join(config.dataDir, 'encryption.key');
      const key = readFileSync(path);
      rmSync(path);
      const problem = expect.stringContaining(`${path} is missing, and the store is sealed with the key`);
      const error = await startServer(config, log).then(
        () => undefined,
        (failure: unknown) => failure,
      );
      expect(error).toBeInstanceOf(ConfigError);
      expect((error as ConfigError).problems).toEqual([problem]);
      expect(await render(config)).toEqual({ code: 1, said: problem });
      expect(existsSync(path)).toBe(false);

      writeFileSync(path, key, { mode: 0o600 });
      await (await startServer(config, log)).stop();
    }));
});
