import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { openArchive } from '@sallyport/backup/format/open-archive';
import { KNOWN_PARTS } from '@sallyport/backup/shelf/make-backup';
import type { AuditEntry, Backup, BackupReport, ErrorBody } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../../../test/support/certificates.ts';
import { bearer, type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

const PASSPHRASE = 'seven quiet harbours';
const NOBODY = 'sallyport-20260101-000000-manual-000000.backup';

onBothDatabases('backups', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let apiToken: Record<string, string>;
  let directory: string;

  beforeAll(async () => {
    app = await startApp(kind);
    const given = createGiven(app);
    admin = await given.administrator();
    apiToken = bearer((await given.apiToken(admin, 'admin')).token);
    directory = join(app.dataDir, 'backups');
    const host = { domain: 'kept.example.com', forward_host: '127.0.0.1', forward_port: 9 };
    await send('POST', '/proxy-hosts', host);
    await send('POST', '/certificates/upload', uploadForm('site', makeCertificate(['kept.example.com'])));
  });
  afterAll(() => app.stop());

  const send = <T = Backup & ErrorBody>(method: string, path: string, body?: unknown, headers = admin.headers) =>
    app.send<T>(method, path, body, headers);
  const list = async (query = '') => (await send<Backup[]>('GET', `/backups${query}`)).body;
  const download = async (name: string): Promise<Buffer> => {
    const answer = await fetch(`${app.url}/api/v1/backups/${name}/download`, { headers: admin.headers });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
    return Buffer.from(await answer.arrayBuffer());
  };
  const drafts = () => readdirSync(directory).filter((name) => name.endsWith('.draft'));
  const upload = (bytes: Buffer | string, more: Record<string, string> = {}) => {
    const form = new FormData();
    form.set('file', new Blob([bytes as Buffer<ArrayBuffer>]), '../../etc/passwd');
    for (const [name, value] of Object.entries(more)) form.set(name, value);
    return send('POST', '/backups/upload', form);
  };
  const rowsOf = async (path: string, passphrase?: string) => {
    const archive = await openArchive(path, { known: KNOWN_PARTS, passphrase });
    const rows: Record<string, object[]> = {};
    for await (const { table, rows: some } of archive.tables()) rows[table] = [...(rows[table] ?? []), ...some];
    await archive.close();
    return { rows, archive };
  };

  test('hold what is configured, verified, for nobody else to read', async () => {
    const { status, body, headers } = await send('POST', '/backups', {});
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/backups/${body.name}`);
    expect(body).toMatchObject({ kind: 'manual', reason: '', encrypted: false });
    expect(Date.parse(body.verified_at ?? '')).toBeGreaterThan(Date.now() - 60_000);
    const path = join(directory, body.name);
    const bytes = readFileSync(path);
    expect(body).toMatchObject({ size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    const { rows, archive } = await rowsOf(path);
    expect(rows.proxy_hosts).toEqual([expect.objectContaining({ domain: 'kept.example.com' })]);
    expect(rows.certificates).toHaveLength(1);
    expect(archive.manifest.migrations).toContain('0001-routes');
    expect(archive.manifest.key_fingerprint).toMatch(/^[0-9a-f]{8}$/);
    expect(JSON.stringify(rows)).not.toContain('PRIVATE KEY');
    expect(archive.key).toBeUndefined();
    expect((await send('GET', `/backups/${body.name}`)).body).toEqual(body);
    expect(await download(body.name)).toEqual(bytes);
  });

  test('hold the key with a passphrase, which only a session may give and nothing repeats', async () => {
    const refused = await send('POST', '/backups', { passphrase: PASSPHRASE }, apiToken);
    expect(refused).toMatchObject({ status: 403 });
    const short = await send('POST', '/backups', { passphrase: 'short' });
    expect(short).toMatchObject({ status: 400, body: { error: 'passphrase must be at least 12 characters long' } });
    const { body } = await send('POST', '/backups', { passphrase: PASSPHRASE });
    expect(body).toMatchObject({ encrypted: true });
    const { archive } = await rowsOf(join(directory, body.name), PASSPHRASE);
    expect(archive.key?.toString('base64')).toBe(readFileSync(join(app.dataDir, 'encryption.key'), 'utf8').trim());
    const trail = await send<AuditEntry[]>('GET', '/audit-logs');
    expect(trail.body[0]).toMatchObject({ action: 'backup.create', resource: `backups/${body.name}` });
    expect(JSON.stringify(trail.body)).not.toContain(PASSPHRASE);
  });

  test('are listed newest first, in pages, and told apart by kind', async () => {
    const all = await list();
    expect(all.length).toBeGreaterThan(1);
    expect(all.map(({ created_at }) => created_at)).toEqual(
      all
        .map(({ created_at }) => created_at)
        .sort()
        .reverse(),
    );
    expect(await list('?per_page=1&page=2')).toEqual([all[1]]);
    expect(await list('?search=manual')).toEqual(all);
  });

  test('that are not encrypted are downloaded in a session only; every download is written down', async () => {
    const all = await list();
    const [open, closed] = [false, true].map((wanted) => all.find(({ encrypted }) => encrypted === wanted)?.name);
    expect((await send('GET', `/backups/${open}/download`, undefined, apiToken)).status).toBe(403);
    expect((await send('GET', `/backups/${closed}/download`, undefined, apiToken)).status).toBe(200);
    const [newest] = (await send<AuditEntry[]>('GET', '/audit-logs')).body;
    expect(newest).toMatchObject({ action: 'backup.download', resource: `backups/${closed}` });
    expect(newest?.actor).toMatch(/token/);
  });

  test('say what is wrong with them, and whether a passphrase fits', async () => {
    const verify = async (name: string, body: object = {}) =>
      (await send<BackupReport>('POST', `/backups/${name}/verify`, body)).body;
    const all = await list();
    const closed = all.find(({ encrypted }) => encrypted)?.name ?? '';
    expect(await verify(closed, { passphrase: PASSPHRASE })).toEqual({ valid: true, problems: [] });
    expect(await verify(closed)).toEqual({ valid: false, problems: [expect.stringMatching(/encrypted/)] });
    const wrong = await verify(closed, { passphrase: 'another passphrase' });
    expect(wrong).toEqual({ valid: false, problems: [expect.stringMatching(/passphrase is not the one/)] });
    // Nothing was found wrong with the file itself.
    expect((await send('GET', `/backups/${closed}`)).body.verified_at).not.toBeNull();

    const { body: broken } = await send('POST', '/backups', {});
    const path = join(directory, broken.name);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    writeFileSync(path, bytes);
    utimesSync(path, new Date(), new Date(Date.now() + 5_000));
    const changed = await send('GET', `/backups/${broken.name}`);
    expect(changed.body.verified_at).toBeNull();
    expect(changed.body.sha256).not.toBe(broken.sha256);
    expect(await verify(broken.name)).toEqual({ valid: false, problems: ['the backup is damaged in chunk 1'] });
    expect((await send('DELETE', `/backups/${broken.name}`)).status).toBe(204);
  });

  test('are taken back from elsewhere, under a name of our own', async () => {
    const { body: first } = await send('POST', '/backups', {});
    const bytes = await download(first.name);
    const { status, body } = await upload(bytes);
    expect(status).toBe(201);
    expect(body).toMatchObject({ kind: 'uploaded', sha256: first.sha256, created_at: first.created_at });
    expect(body.name).toMatch(/^sallyport-\d{8}-\d{6}-uploaded-[0-9a-f]{6}\.backup$/);
    expect(body.verified_at).not.toBeNull();
    const encrypted = await download((await list()).find((one) => one.encrypted)?.name ?? '');
    expect((await upload(encrypted)).body).toMatchObject({ encrypted: true, verified_at: null });
    const verified = await upload(encrypted, { passphrase: PASSPHRASE });
    expect(verified.body.verified_at).not.toBeNull();
    expect(await upload(encrypted, { passphrase: 'another passphrase' })).toMatchObject({ status: 400 });

    const store = (value: string) => send('POST', '/settings', { key: 'backup.passphrase', value });
    await store('another passphrase');
    expect((await upload(encrypted)).body).toMatchObject({ encrypted: true, verified_at: null });
    await store(PASSPHRASE);
    expect((await upload(encrypted)).body).toMatchObject({ encrypted: true, verified_at: expect.any(String) });
    const damaged = Buffer.from(encrypted).fill('x', encrypted.length - 50);
    expect(await upload(damaged)).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^file: .*damaged/) },
    });
    await store('');
  });

  test('that are none, or damaged, are refused, and nothing is left of them', async () => {
    const before = readdirSync(directory);
    const bytes = await download((await list()).find(({ encrypted }) => !encrypted)?.name ?? '');
    const refusals: [Buffer | string, RegExp][] = [
      ['', /file is empty/],
      ['hello', /not a backup/],
      [gzipSync('{}'), /gzipped/],
      [bytes.subarray(0, -1), /cut off/],
      [bytes.subarray(0, 1_000), /cut off/],
      [Buffer.concat([bytes, Buffer.from('x')]), /after its end/],
      [Buffer.from(bytes).fill('x', bytes.length - 50), /damaged/],
    ];
    for (const [content, error] of refusals) {
      expect(await upload(content)).toMatchObject({ status: 400, body: { error: expect.stringMatching(error) } });
    }
    expect(await upload(bytes, { other: 'x' })).toMatchObject({
      status: 400,
      body: { error: 'other is not a known field' },
    });
    expect(await send('POST', '/backups/upload', new FormData())).toMatchObject({ status: 400 });
    expect(await send('POST', '/backups/upload', {})).toMatchObject({ status: 400 });
    expect(readdirSync(directory)).toEqual(before);
  });

  test.each(['../sallyport.db', '..%2f..%2fetc%2fpasswd', 'x', `${NOBODY}.note`, `${NOBODY}%00`, 'encryption.key'])(
    'are never looked for under another name: %s',
    async (name) => {
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/download'],
        ['POST', '/verify'],
        ['DELETE', ''],
      ] as const) {
        const { status } = await send(method, `/backups/${name}${path}`, method === 'POST' ? {} : undefined);
        expect([400, 404, 405], `${method} ${name}${path} ${status}`).toContain(status);
      }
    },
  );

  test('that nobody has are 404', async () => {
    expect((await send('GET', `/backups/${NOBODY}`)).status).toBe(404);
    expect((await send('GET', `/backups/${NOBODY}/download`)).status).toBe(404);
    expect((await send('POST', `/backups/${NOBODY}/verify`, {})).status).toBe(404);
    expect((await send('DELETE', `/backups/${NOBODY}`)).status).toBe(404);
  });

  test('asked for twice with one key are made once', async () => {
    const before = (await list()).length;
    const headers = { ...admin.headers, 'idempotency-key': 'twice' };
    const [first, second] = await Promise.all([1, 2].map(() => send('POST', '/backups', {}, headers)));
    expect(first?.body).toEqual(second?.body);
    expect((await list()).length).toBe(before + 1);
  });

  test('uploaded twice with one key are there once, and nothing is left of the second', async () => {
    const bytes = await download((await list()).find(({ encrypted }) => !encrypted)?.name ?? '');
    const headers = { ...admin.headers, 'idempotency-key': 'upload' };
    const form = () => {
      const made = new FormData();
      made.set('file', new Blob([bytes as Buffer<ArrayBuffer>]), 'x');
      return made;
    };
    const first = await send('POST', '/backups/upload', form(), headers);
    const second = await send('POST', '/backups/upload', form(), headers);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.body).toEqual(first.body);
    await expect.poll(drafts).toEqual([]);
  });

  test('whose upload ends in the middle leave nothing', async () => {
    const ending = new AbortController();
    const beginning = `--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nsallyport-backup 2\n`;
    const sent = fetch(`${app.url}/api/v1/backups/upload`, {
      method: 'POST',
      headers: { ...admin.headers, 'content-type': 'multipart/form-data; boundary=b' },
      body: new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from(beginning)) }),
      duplex: 'half',
      signal: ending.signal,
    } as RequestInit);
    await expect.poll(drafts).toHaveLength(1);
    ending.abort();
    await expect(sent).rejects.toThrow();
    await expect.poll(drafts).toEqual([]);
  });

  test('can be asked for without being sent', async () => {
    const [newest] = await list();
    const answer = await fetch(`${app.url}/api/v1/backups/${newest?.name}/download`, {
      method: 'HEAD',
      headers: admin.headers,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-length')).toBe(String(newest?.size));
  });

  test('that are asked for in any number are refused, and those that are made are whole', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => send('POST', '/backups', {})));
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201, 409]));
    const names = made.filter(({ status }) => status === 201).map(({ body }) => body.name);
    const known = new Set((await list()).map(({ name }) => name));
    expect(names.every((name) => known.has(name))).toBe(true);
  });

  test('that are asked to be read in any number are refused as well', async () => {
    const { name } = (await send('POST', '/backups', {})).body;
    const read = await Promise.all(Array.from({ length: 20 }, () => send('POST', `/backups/${name}/verify`, {})));
    expect(new Set(read.map(({ status }) => status))).toEqual(new Set([200, 409]));
  });

  test('are files: what else bears such a name is none, and nobody waits for it', async () => {
    const [socket, place] = ['000001', '000002'].map((end) => `sallyport-20260101-000000-manual-${end}.backup`);
    const server = createServer().listen(join(directory, socket as string));
    await once(server, 'listening');
    mkdirSync(join(directory, place as string));
    try {
      expect((await list()).filter(({ name }) => name === socket || name === place)).toEqual([]);
      for (const name of [socket, place]) expect((await send('GET', `/backups/${name}`)).status).toBe(404);
      expect((await send('POST', `/backups/${socket}/restore`, {})).status).toBe(404);
    } finally {
      server.close();
      rmdirSync(join(directory, place as string));
    }
  });

  test('that are made at once are all whole', async () => {
    const made = await Promise.all([1, 2, 3].map(() => send('POST', '/backups', {})));
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
    expect(new Set(made.map(({ body }) => body.name)).size).toBe(3);
  });

  test('made without anybody asking go when there are too many, but never the newest valid one', async () => {
    await send('POST', '/settings', { key: 'backup.keep', value: '2' });
    const others = (await list()).filter((backup) => backup.kind !== 'automatic').length;
    for (let n = 0; n < 4; n++) {
      const form = uploadForm(`c${n}`, makeCertificate([`c${n}.example.com`]));
      const { body } = await send<{ id: number }>('POST', '/certificates/upload', form);
      expect((await send('DELETE', `/certificates/${body.id}`)).status).toBe(200);
    }
    const all = await list();
    expect(all.filter((backup) => backup.kind === 'automatic')).toHaveLength(2);
    expect(all.filter((backup) => backup.kind !== 'automatic')).toHaveLength(others);
    expect(all[0]).toMatchObject({ kind: 'automatic', reason: 'before-certificate-delete' });
  });

  test('leave nothing behind when the process ends in the middle, and tell the newest in the metrics', async () => {
    const [newest] = await list();
    writeFileSync(join(directory, `.${2 ** 22 - 1}-0123456789ab.draft`), 'half');
    writeFileSync(join(directory, `.${process.pid}-0123456789ab.draft`), 'half');
    writeFileSync(join(directory, `${NOBODY}.note`), '{}');
    await app.restart();
    const left = readdirSync(directory).filter((name) => name.includes('draft') || name.startsWith(NOBODY));
    expect(left).toEqual([]);
    const metrics = await (await fetch(`${app.url}/metrics`)).text();
    const [, told] = /^sallyport_backup_newest_timestamp_seconds (\S+)$/m.exec(metrics) ?? [];
    expect(Number(told)).toBe(Date.parse(newest?.created_at ?? '') / 1_000);
  });
});
