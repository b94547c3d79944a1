import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditEntry, Backup, Decision, ErrorBody, ProxyHost, RestoreReport, Setting } from '@sallyport/contract';
import { openDatabase } from '@sallyport/store/database/open';
import { keyIdOf } from '@sallyport/store/secrets/vault';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../../../test/support/certificates.ts';
import { bearer, type Caller, createGiven, PASSWORD } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp } from '../../../testing/start-app.ts';

const PASSPHRASE = 'seven quiet harbours';

/** A service with an administrator, and ways to talk to it. */
const start = async (kind: 'sqlite' | 'postgres') => {
  const app = await startApp(kind);
  const given = createGiven(app);
  const admin = await given.administrator();
  const send = <T = ErrorBody>(method: string, path: string, body?: unknown, headers = admin.headers) =>
    app.send<T>(method, path, body, headers);
  return { app, given, admin, send };
};
type Service = Awaited<ReturnType<typeof start>>;

const addHost = async ({ send }: Service, domain: string, more: object = {}): Promise<ProxyHost> =>
  (await send<ProxyHost>('POST', '/proxy-hosts', { domain, forward_host: '127.0.0.1', forward_port: 9, ...more })).body;

const domains = async ({ send }: Service): Promise<string[]> =>
  (await send<ProxyHost[]>('GET', '/proxy-hosts')).body.map(({ domain }) => domain).sort();

const backUp = async ({ send }: Service, passphrase?: string): Promise<string> =>
  (await send<Backup>('POST', '/backups', passphrase === undefined ? {} : { passphrase })).body.name;

/** Takes a backup from one service to another. */
const carry = async (from: Service, to: Service, name: string, passphrase?: string): Promise<string> => {
  const response = await fetch(`${from.app.url}/api/v1/backups/${name}/download`, { headers: from.admin.headers });
  const form = new FormData();
  form.set('file', await response.blob());
  if (passphrase !== undefined) form.set('passphrase', passphrase);
  return (await to.send<Backup>('POST', '/backups/upload', form)).body.name;
};

onBothDatabases('restoring', (kind) => {
  let service: Service;
  let admin: Caller;
  beforeAll(async () => {
    service = await start(kind);
    ({ admin } = service);
  });
  afterAll(() => service.app.stop());

  const restore = <T = RestoreReport & ErrorBody>(name: string, more: object = {}, headers = admin.headers) =>
    service.send<T>('POST', `/backups/${name}/restore`, more, headers);

  test('brings back what was configured; who may do what, what is banned and what was written down stay', async () => {
    const { send, given } = service;
    const certificate = await send<{ id: number }>(
      'POST',
      '/certificates/upload',
      uploadForm('site', makeCertificate(['kept.example.com'])),
    );
    await addHost(service, 'kept.example.com', { certificate_id: certificate.body.id });
    const gone = await addHost(service, 'gone.example.com');
    await send('POST', '/settings', { key: 'smtp.password', value: 'the first' });
    const revoked = await given.apiToken(admin, 'admin');
    const name = await backUp(service);

    await send('DELETE', `/tokens/${revoked.id}`);
    await send('DELETE', `/proxy-hosts/${gone.uuid}`);
    await addHost(service, 'since.example.com');
    await send('POST', '/settings', { key: 'smtp.host', value: 'mail.example.com' });
    await send('POST', '/security/decisions', { ip: '198.51.100.9', action: 'block' });
    const user = await given.caller('user');

    const { status, body } = await restore(name);
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        restored: true,
        changes: {
          proxy_hosts: { added: 1, changed: 0, removed: 1 },
          settings: { added: 0, changed: 0, removed: 1 },
        },
        backup: expect.stringContaining('automatic'),
      },
    });
    expect(await domains(service)).toEqual(['gone.example.com', 'kept.example.com']);
    // The same object, with its reference.
    expect((await send<ProxyHost>('GET', `/proxy-hosts/${gone.uuid}`)).body.domain).toBe('gone.example.com');
    const settings = (await send<{ settings: Setting[] }>('GET', '/settings')).body.settings;
    expect(settings.find(({ key }) => key === 'smtp.host')?.value ?? '').toBe('');
    expect((await send('GET', '/backups', undefined, bearer(revoked.token))).status).toBe(401);
    expect((await given.signIn(user.user.email)).user.email).toBe(user.user.email);
    const { decisions } = (await send<{ decisions: Decision[] }>('GET', '/security/decisions')).body;
    expect(decisions.map(({ ip }) => ip)).toContain('198.51.100.9');
    const entries = (await send<AuditEntry[]>('GET', '/audit-logs?action=backup.restore')).body;
    expect(JSON.stringify(entries)).toContain(name);

    // And what was there before the restore, by the backup that it made.
    expect((await restore(body.backup as string)).status).toBe(200);
    expect(await domains(service)).toEqual(['kept.example.com', 'since.example.com']);
    const next = await addHost(service, 'next.example.com');
    expect(next.uuid).not.toBe(gone.uuid);
    expect(readdirSync(service.app.dataDir).filter((entry) => entry.startsWith('restore-'))).toEqual([]);
  });

  test('is for sessions of administrators', async () => {
    const name = await backUp(service);
    const token = await service.given.apiToken(admin, 'admin');
    expect((await restore(name, {}, bearer(token.token))).status).toBe(403);
    const user = await service.given.caller('user');
    expect((await restore(name, {}, user.headers)).status).toBe(403);
    expect((await restore('nonsense')).status).toBe(400);
    expect((await restore('sallyport-20260101-000000-manual-000000.backup')).status).toBe(404);
  });

  test('one after the other: a second one while one is under way is refused', async () => {
    const name = await backUp(service);
    const answers = await Promise.all([restore(name), restore(name)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('leaves everything as it is when something in the backup is not what could have been made here', async () => {
    const uuid = (await addHost(service, 'odd.example.com')).uuid;
    const database = openDatabase(service.app.config);
    await database.kysely.updateTable('proxy_hosts').set({ forward_port: 99_999 }).where('uuid', '=', uuid).execute();
    const name = await backUp(service);
    await database.kysely.updateTable('proxy_hosts').set({ forward_port: 9 }).where('uuid', '=', uuid).execute();
    await database.stop();
    const before = await domains(service);
    await addHost(service, 'later.example.com');
    const { status, body } = await restore(name);
    expect(status).toBe(400);
    expect(body.error).toBe('proxy host odd.example.com: forward_port must be <= 65535');
    expect(await domains(service)).toEqual([...before, 'later.example.com'].sort());
  });

  test('of another deployment needs its key: by the passphrase, or as a file', async () => {
    const other = await start('sqlite');
    try {
      const pair = makeCertificate(['elsewhere.example.com']);
      const { body } = await other.send<{ id: number }>('POST', '/certificates/upload', uploadForm('site', pair));
      await addHost(other, 'elsewhere.example.com', { certificate_id: body.id });
      const plain = await carry(other, service, await backUp(other));
      const refused = await restore(plain);
      expect(refused.status).toBe(400);
      expect(refused.body.error).toMatch(/sealed with key ([0-9a-f]{8}), and this deployment has key [0-9a-f]{8}:/);
      const keyId = /sealed with key ([0-9a-f]{8})/.exec(refused.body.error)?.[1];

      const locked = await carry(other, service, await backUp(other, PASSPHRASE), PASSPHRASE);
      expect((await restore(locked)).status).toBe(400);
      expect((await restore(locked, { passphrase: 'six loud harbours' })).status).toBe(400);
      expect((await restore(locked, { passphrase: PASSPHRASE })).status).toBe(200);
      expect(await domains(service)).toEqual(['elsewhere.example.com']);
      // Its accounts did not come along.
      const [signedIn] = [await service.given.signIn(admin.user.email, PASSWORD)];
      expect(signedIn.user.id).toBe(admin.user.id);

      await addHost(service, 'more.example.com');
      copyFileSync(join(other.app.dataDir, 'encryption.key'), join(service.app.dataDir, `encryption.key.${keyId}`));
      expect((await restore(plain)).status).toBe(200);
      expect(await domains(service)).toEqual(['elsewhere.example.com']);
      // What was sealed elsewhere is sealed with the key of this deployment now.
      const database = openDatabase(service.app.config);
      const rows = await database.kysely.selectFrom('certificates').select('key_sealed').execute();
      await database.stop();
      expect(rows.map(({ key_sealed }) => keyIdOf(key_sealed))).toEqual([expect.not.stringMatching(keyId as string)]);
    } finally {
      await other.app.stop();
    }
  });
});
