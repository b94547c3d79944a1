import { DatabaseSync } from 'node:sqlite';
import type {
  Backup,
  Certificate,
  ErrorBody,
  ImportOfFiles,
  ImportOutcome,
  ImportPreview,
  ProxyHost,
} from '@sallyport/contract';
import { openDatabase } from '@sallyport/store/database/open';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, type TestCertificate } from '../../../../../../test/support/certificates.ts';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

const good = makeCertificate(['tls.example.com']);
const weak = makeCertificate(['weak.example.com'], { keyCommand: ['genrsa', '-out', 'key.pem', '1024'] });

/** A database of Nginx Proxy Manager: two hosts with one certificate, one whose certificate nobody could use, and one without. */
const managerDatabase = (): string => {
  const database = new DatabaseSync(':memory:');
  database.exec(`
    create table proxy_host (id integer primary key, domain_names json, forward_scheme text default 'http', forward_host text default '127.0.0.1',
      forward_port integer default 3001, access_list_id integer default 0, certificate_id integer default 0, ssl_forced integer default 0);
    create table certificate (id integer primary key, is_deleted integer default 0, provider text default 'other', nice_name text, meta json);
    insert into proxy_host (domain_names, certificate_id) values ('["tls.example.com"]', 1), ('["also.example.com"]', 1),
      ('["weak.example.com"]', 2), ('["plain.example.com"]', 0)`);
  const insert = database.prepare('insert into certificate (nice_name, meta) values (?, ?)');
  const meta = ({ certificate, key }: TestCertificate) => JSON.stringify({ certificate, certificate_key: key });
  insert.run('good', meta(good));
  insert.run('weak', meta(weak));
  const bytes = Buffer.from(database.serialize());
  database.close();
  return bytes.toString('base64');
};

/** Lines of keys, and no others. */
const secretsOf = ({ key }: TestCertificate): string[] => key.split('\n').filter((line) => line.length > 40);

onBothDatabases('importing certificates', (kind) => {
  let app: TestApp;
  let admin: Caller;
  beforeAll(async () => {
    app = await startApp(kind, { SALLYPORT_SESSION_SECRET: 's'.repeat(32) });
    admin = await createGiven(app).administrator();
  });
  afterAll(() => app.stop());

  const get = async <T>(path: string): Promise<T> => {
    const answer = await app.send<T>('GET', path, undefined, admin.headers);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  const upload = async (): Promise<ImportPreview> => {
    const body = { content: managerDatabase(), encoding: 'base64', filename: 'database.sqlite' };
    expect((await app.send('POST', '/import/upload', body, admin.headers)).status).toBe(201);
    return get<ImportPreview>('/import/preview');
  };
  const commit = async ({ session, conflicts }: ImportPreview): Promise<ImportOutcome> => {
    const resolutions = Object.fromEntries(conflicts.map((name) => [name, 'overwrite']));
    const request = { session_uuid: session.uuid, resolutions };
    const answer = await app.send<ImportOutcome & ErrorBody>('POST', '/import/commit', request, admin.headers);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  const served = async () => {
    const certificates = await get<Certificate[]>('/certificates');
    const hosts = await get<ProxyHost[]>('/proxy-hosts?sort=domain');
    const nameOf = (id: number | null) => certificates.find((one) => one.id === id)?.name ?? null;
    return {
      certificates: certificates.map(({ name, provider, domains }) => [name, provider, domains]),
      hosts: hosts.map(({ domain, certificate_id }) => [domain, nameOf(certificate_id)]),
    };
  };
  /** All that the store has of sessions, the audit trail and the history, as it lies there. */
  const written = async (): Promise<string> => {
    const database = openDatabase(app.config);
    const { kysely: db } = database;
    const rows = await Promise.all(
      (['import_sessions', 'audit_logs', 'history', 'certificates'] as const).map((table) =>
        db.selectFrom(table).selectAll().execute(),
      ),
    );
    await database.stop();
    return JSON.stringify(rows);
  };
  const expectNoKey = (text: string): void => {
    expect(text).not.toContain('PRIVATE KEY');
    for (const secret of [good, weak].flatMap(secretsOf)) expect(text.includes(secret)).toBe(false);
  };

  test('they are stored with their keys, once, for the hosts that use them; a key is shown and written nowhere', async () => {
    const shown = await upload();
    expect(shown.hosts.map(({ domain, certificate, issue }) => [domain, certificate, issue])).toEqual([
      ['tls.example.com', 'good', null],
      ['also.example.com', 'good', null],
      ['weak.example.com', null, null],
      ['plain.example.com', null, null],
    ]);
    expect(shown.hosts[2]?.warnings[0]?.message).toBe(
      'its certificate weak is not taken over: the key: an RSA key needs at least 2048 bits',
    );
    expectNoKey(JSON.stringify(shown));
    expectNoKey(await written());

    const done = await commit(shown);
    expect(done).toMatchObject({ imported: 4, failed: 0 });
    const expected = {
      certificates: [['good', 'custom', 'tls.example.com']],
      hosts: [
        ['also.example.com', 'good'],
        ['plain.example.com', null],
        ['tls.example.com', 'good'],
        ['weak.example.com', null],
      ],
    };
    expect(await served()).toEqual(expected);
    expectNoKey(await written());
    expectNoKey(JSON.stringify([await get('/audit-logs'), await get('/history')]));

    // One that is there is found again.
    await commit(await upload());
    expect(await served()).toEqual(expected);

    const before = await get<Backup[]>('/backups');
    const back = await app.send('POST', `/history/batches/${done.batch}/revert`, undefined, admin.headers);
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    expect(await served()).toEqual({ certificates: [], hosts: [] });
    const made = (await get<Backup[]>('/backups')).filter(({ name }) => !before.some((one) => one.name === name));
    expect(made).toHaveLength(1);
  });

  test('one that the old proxy renewed serves the names of a host that has its own by itself', async () => {
    const own = makeCertificate(['soon.example.com']);
    const site = `server {\n listen 443 ssl;\n server_name soon.example.com;\n ssl_certificate /etc/letsencrypt/live/a/fullchain.pem;\n ssl_certificate_key /etc/letsencrypt/live/a/privkey.pem;\n location / { proxy_pass http://127.0.0.1:3001; }\n}\n`;
    const files = [
      { filename: 'nginx.conf', content: site },
      { filename: 'live/a/fullchain.pem', content: own.certificate },
      { filename: 'live/a/privkey.pem', content: own.key },
    ];
    const answer = await app.send<ImportOfFiles>('POST', '/import/upload-multi', { files }, admin.headers);
    expect(answer.body.hosts).toMatchObject([{ certificate: 'soon.example.com', issue: null }]);
    const { batch } = await commit(await get<ImportPreview>('/import/preview'));
    const [host] = await get<ProxyHost[]>('/proxy-hosts');
    // No account yet: nothing is ordered, and the host says what it waits for.
    expect(host).toMatchObject({
      domain: 'soon.example.com',
      auto_certificate: true,
      certificate_id: null,
    });
    expect((await served()).certificates).toEqual([['soon.example.com', 'custom', 'soon.example.com']]);
    await app.send('POST', `/history/batches/${batch}/revert`, undefined, admin.headers);
    expect(await served()).toEqual({ certificates: [], hosts: [] });
  });

  test('those beside a configuration are sealed, and linked to the hosts that name them', async () => {
    const server = (name: string) =>
      `server {\n listen 443 ssl;\n server_name ${name};\n ssl_certificate /etc/ssl/${name}.pem;\n ssl_certificate_key /etc/ssl/${name}.key;\n location / { proxy_pass http://127.0.0.1:3001; }\n}\n`;
    const files = [
      { filename: 'nginx.conf', content: server('tls.example.com') + server('missing.example.com') },
      { filename: 'ssl/tls.example.com.pem', content: good.certificate },
      { filename: 'ssl/tls.example.com.key', content: good.key },
    ];
    const answer = await app.send<ImportOfFiles>('POST', '/import/upload-multi', { files }, admin.headers);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const { hosts } = answer.body;
    expect(hosts.map(({ domain, certificate }) => [domain, certificate])).toEqual([
      ['tls.example.com', 'tls.example.com'],
      ['missing.example.com', null],
    ]);
    expect(hosts[1]?.warnings.map(({ message }) => message)).toContain(
      'upload the certificate /etc/ssl/missing.example.com.pem with its key /etc/ssl/missing.example.com.key beside the configuration, or let one be issued',
    );
    const shown = [answer.body, await get('/import/status'), await get('/import/preview')];
    expectNoKey(JSON.stringify(shown));
    expectNoKey(await written());
    expect(await commit(await get<ImportPreview>('/import/preview'))).toMatchObject({ imported: 2, failed: 0 });
    expect(await served()).toEqual({
      certificates: [['tls.example.com', 'custom', 'tls.example.com']],
      hosts: [
        ['missing.example.com', null],
        ['tls.example.com', 'tls.example.com'],
      ],
    });
    expectNoKey(await written());
  });
});
