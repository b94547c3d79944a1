import { mkdirSync, readdirSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Backup } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { startApp, type TestApp } from '../../../testing/start-app.ts';

vi.setConfig({ testTimeout: 120_000 });

/** More than what sockets hold: who does not read it keeps the file open. */
const BYTES = 64 * 1024 * 1024;
const NAME = 'sallyport-20261122-050000-manual-0a1b2c.backup';

let app: TestApp;
let admin: Caller;
beforeAll(async () => {
  app = await startApp('sqlite');
  admin = await createGiven(app).administrator();
  const directory = join(app.dataDir, 'backups');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, NAME), '');
  truncateSync(join(directory, NAME), BYTES);
});
afterAll(() => app.stop());

const opened = () =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).endsWith(NAME);
    } catch {
      return false;
    }
  }).length;

/** Begins a download, and hangs up when something of it is there. */
const hangUp = () =>
  new Promise<void>((resolve, reject) => {
    const url = `${app.url}/api/v1/backups/${NAME}/download`;
    const asked = request(url, { headers: admin.headers, agent: false }, (response) => {
      response.once('data', () => {
        expect(opened()).toBeGreaterThan(0);
        asked.destroy();
        resolve();
      });
      response.on('error', () => {});
    });
    asked.on('error', reject);
    asked.end();
  });

test('a download that somebody hangs up on leaves no file open', async () => {
  for (let n = 0; n < 2; n++) await Promise.all([hangUp(), hangUp(), hangUp(), hangUp()]);
  await eventually(opened).toBe(0);
  // What is asked for in vain opens none.
  expect((await app.send('GET', `/backups/${NAME}/download`)).status).toBe(403);
  const head = await fetch(`${app.url}/api/v1/backups/${NAME}/download`, { method: 'HEAD', headers: admin.headers });
  expect(head.headers.get('content-length')).toBe(String(BYTES));
  await eventually(opened).toBe(0);
  expect((await app.send<Backup>('GET', `/backups/${NAME}`, undefined, admin.headers)).body.size).toBe(BYTES);
});
