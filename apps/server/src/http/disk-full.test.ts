import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmergencyDrill } from '@sallyport/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../test/support/certificates.ts';
import { isRoot } from '../../../../test/support/is-root.ts';
import { createGiven } from '../testing/given-accounts.ts';
import { startApp, type TestApp } from '../testing/start-app.ts';

describe.skipIf(!isRoot)('a full disk', () => {
  const disk = mkdtempSync(join(tmpdir(), 'sallyport-disk-'));
  const filling = join(disk, 'filling');
  const usualTmp = process.env.TMPDIR;
  let app: TestApp;

  beforeAll(async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', disk]);
    process.env.TMPDIR = disk;
    try {
      app = await startApp('sqlite');
    } finally {
      // Whatever comes of it: the files after this one share the process.
      process.env.TMPDIR = usualTmp ?? '';
      if (usualTmp === undefined) delete process.env.TMPDIR;
    }
  });
  afterAll(async () => {
    await app?.stop();
    execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true, force: true });
  });

  /** Writes until not one more byte fits. */
  const fill = (): void => {
    const file = openSync(filling, 'a');
    for (let size = 1 << 20; size >= 1; ) {
      try {
        if (writeSync(file, Buffer.alloc(size, 'x')) < size) size = Math.max(1, size >> 1);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        size >>= 1;
      }
    }
    closeSync(file);
  };

  test('is told with its reason and changes nothing; reading goes on, and writing as soon as there is room', async () => {
    const host = (n: number) => ({ domain: `h${n}.example.com`, forward_host: '127.0.0.1', forward_port: 9_000 });
    expect((await app.send('POST', '/proxy-hosts', host(0))).status).toBe(201);
    const before = (await app.send('GET', '/proxy-hosts')).body;
    const { headers } = await createGiven(app).administrator();
    const backup = (await app.send<{ name: string }>('POST', '/backups', {}, headers)).body;
    const download = await fetch(`${app.url}/api/v1/backups/${backup.name}/download`, { headers });
    const upload = new FormData();
    upload.set('file', await download.blob());
    const backups = join(app.dataDir, 'backups');
    const files = readdirSync(backups);
    const certificate = uploadForm('site', makeCertificate(['site.example.com']));
    fill();
    const full = {
      status: 507,
      body: {
        error: 'The disk is full',
        code: 507,
        details: 'nothing was changed; free space on the disk of the data directory',
      },
    };
    // What room the journal still has is used up first.
    await expect
      .poll(
        async () =>
          (await app.send('POST', '/security/decisions', { ip: '192.0.2.1', action: 'block', details: 'x' })).status,
      )
      .toBe(507);
    expect(await app.send('POST', '/proxy-hosts', host(1))).toMatchObject(full);
    expect(await app.send('POST', '/security/config', { waf_mode: 'monitor' })).toMatchObject(full);
    expect(await app.send('POST', '/certificates/upload', certificate)).toMatchObject(full);
    expect(await app.send('POST', '/backups', {}, headers)).toMatchObject(full);
    expect(await app.send('POST', '/backups/upload', upload, headers)).toMatchObject(full);
    // Room for a part of it is no room.
    truncateSync(filling, statSync(filling).size - 4_096);
    expect(await app.send('POST', '/backups/upload', upload, headers)).toMatchObject(full);
    fill();
    expect(readdirSync(backups)).toEqual(files);
    expect((await app.send('GET', '/proxy-hosts')).body).toEqual(before);
    const drill = await app.send<EmergencyDrill>('POST', '/emergency/drill', undefined, headers);
    expect(drill).toMatchObject({ status: 200, body: { ok: false, proven_at: null } });
    const found = new Map(drill.body.checks.map(({ name, message }) => [name, message]));
    expect(found.get('store')).toMatch(/^The store can not be written \(.*full/);
    expect(found.get('disk')).toMatch(/^Only 0 MiB are free/);
    rmSync(filling);
    expect((await app.send('POST', '/proxy-hosts', host(1))).status).toBe(201);
    expect((await app.send('POST', '/certificates/upload', certificate)).status).toBe(201);
    expect((await app.send('POST', '/backups', {}, headers)).status).toBe(201);
    expect((await app.send('POST', '/backups/upload', upload, headers)).status).toBe(201);
  });
});
