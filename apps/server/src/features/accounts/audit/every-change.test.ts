import type { AuditEntry, Backup, Certificate, HistoryEntry, Invite, TotpSecret } from '@sallyport/contract';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../../../test/support/certificates.ts';
import { startPebble } from '../../../../../../test/support/start-pebble.ts';
import { until } from '../../../../../../test/support/until.ts';
import { shownCode } from '../../../testing/authenticator.ts';
import { bearer, createGiven, PASSWORD } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

/** Routes that are no reads by method, but change nothing. */
const CHANGE_NOTHING = new Set([
  'POST /users/preview-invite-url',
  'POST /settings/validate-url',
  'POST /settings/test-url',
  'POST /settings/test-mail',
  'POST /access-lists/test',
  'POST /access-lists/:id/test',
  'POST /security/rulesets/check',
  'POST /security/notifications/test',
  'POST /backups/:name/verify',
  'POST /backups/copies/test',
  'POST /certificates/preflight',
]);
/** They start and end a process, which no store can take back; their entries are held by crowdsec.test.ts. */
const OF_PROCESSES = new Set(['POST /admin/crowdsec/start', 'POST /admin/crowdsec/stop']);
/** They need an installed CrowdSec; held by presets.test.ts and console.test.ts. */
const OF_CROWDSEC = / \/admin\/crowdsec\/(?:presets\/|console$)/;
/** Is made without the trail as well, which gets its entry later (packages/recovery). */
const WAY_IN = 'POST /emergency/security-reset';
/** Changes nothing but when it was made, and tells what of the trail is amiss; held by drill.test.ts. */
const DRILL = 'POST /emergency/drill';
/** Needs a proxy that serves, and changes nothing but the trail; held by import.test.ts. */
const PROOF = 'POST /import/verify';
/** Needs an authority that has issued something; held by orders.test.ts. */
const REVOCATION = 'POST /certificates/:id/revoke';
/** Need a root of the internal authority; held by internal-ca.test.ts. */
const OF_ROOTS = / \/certificates\/internal-ca\//;

onBothDatabases('every change', (kind) => {
  let app: TestApp;
  let database: Database;
  beforeAll(async () => {
    app = await startApp(kind);
    database = openDatabase(app.config);
  });
  afterAll(async () => {
    await database.stop();
    await app.stop();
  });

  const run = (statement: string) => sql.raw<Record<string, unknown>>(statement).execute(database.kysely);

  const allTables = async (): Promise<string[]> => {
    const { rows } = await run(
      kind === 'sqlite'
        ? "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
        : "select table_name as name from information_schema.tables where table_schema = 'public'",
    );
    return rows.map(({ name }) => String(name));
  };

  /** When a session was last seen is stored to the minute, whatever it asks for: the test takes longer on a busy machine. */
  const withoutUse = (line: string): string => line.replace(/"last_seen_at":"[^"]*"/, '');

  /** Everything the store holds: lines of a table's name and a row. */
  const contents = async (): Promise<string[]> => {
    const tables = await allTables();
    if (kind === 'postgres') {
      // In one question: some forty of them, a hundred and thirty times over, are what the test would mostly do.
      const parts = tables.map((name) => `select '${name} ' || row_to_json(t)::text as line from ${name} t`);
      return (await run(parts.join(' union all '))).rows.map(({ line }) => withoutUse(String(line))).sort();
    }
    const held: string[] = [];
    for (const name of tables) {
      const { rows } = await run(`select * from ${name}`);
      held.push(...rows.map((row) => `${name} ${JSON.stringify(row)}`));
    }
    return held.map(withoutUse).sort();
  };

  /** Makes the trail impossible to write while `work` runs. */
  const withoutTrail = async <T>(work: () => Promise<T>): Promise<T> => {
    await run('alter table audit_logs rename to audit_logs_away');
    try {
      return await work();
    } finally {
      await run('alter table audit_logs_away rename to audit_logs');
    }
  };

  test('leaves an entry with its name, and is not made when the entry can’t be written', async () => {
    const given = createGiven(app);
    const admin = await given.administrator();
    const done: string[] = ['POST /setup'];
    const patternOf = (method: string, path: string) =>
      app
        .routePolicies()
        .map((line) => line.split(' ').slice(0, 2).join(' ').replace('/api/v1', ''))
        .find((route) => {
          const [of, pattern = ''] = route.split(' ');
          return of === method && new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(path);
        }) ?? `${method} ${path} is no route`;

    /** Tries a change without its entry, then makes it and expects the entry to be the newest one. */
    const change = async <T>(
      action: string,
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = admin.headers,
    ): Promise<T> => {
      const [below = ''] = path.split('?');
      await withoutTrail(async () => {
        const before = await contents();
        expect((await app.send(method, path, body, headers)).status, `${method} ${path} without a trail`).toBe(500);
        expect(await contents(), `${method} ${path} without a trail`).toEqual(before);
      });
      const answer = await app.send<T>(method, path, body, headers);
      expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
      const newest = await app.send<AuditEntry[]>('GET', '/audit-logs?limit=1', undefined, admin.headers);
      expect(newest.body[0], `${method} ${path}`).toMatchObject({ action, method, path: `/api/v1${below}` });
      done.push(patternOf(method, below));
      return answer.body;
    };

    const host = { domain: 'a.example.com', forward_host: '127.0.0.1', forward_port: 9 };
    const { uuid } = await change<{ uuid: string }>('proxy_host.create', 'POST', '/proxy-hosts', host);
    await change('proxy_host.update', 'PUT', `/proxy-hosts/${uuid}`, { enabled: false });
    await change('proxy_host.update', 'POST', '/proxy-hosts/bulk', { uuids: [uuid], patch: { enabled: true } });
    await change('proxy_host.delete', 'POST', '/proxy-hosts/bulk-delete', { uuids: [uuid] });
    const second = await change<{ uuid: string }>('proxy_host.create', 'POST', '/proxy-hosts', host);
    await change('proxy_host.delete', 'DELETE', `/proxy-hosts/${second.uuid}`);
    const lastChange = async () => {
      const { body } = await app.send<HistoryEntry[]>('GET', '/history?per_page=1', undefined, admin.headers);
      return body[0] as HistoryEntry;
    };
    await change('proxy_host.create', 'POST', `/history/${(await lastChange()).id}/revert`);
    await change('proxy_host.delete', 'POST', `/history/batches/${(await lastChange()).batch}/revert`);
    const third = await app.send<{ uuid: string }>('POST', '/proxy-hosts?confirm_within=600', host, admin.headers);
    await change('change.confirm', 'POST', `/security/confirm/${third.headers.get('x-sallyport-confirm')}`);
    await app.send('DELETE', `/proxy-hosts/${third.body.uuid}`, undefined, admin.headers);

    const origin = { forward_host: '127.0.0.1', forward_port: 9 };
    await change('proxy_host.test_origin', 'POST', '/proxy-hosts/test-origin', origin);

    const machine = { name: 'm', host: '127.0.0.1', port: 9 };
    const server = await change<{ uuid: string }>('remote_server.create', 'POST', '/remote-servers', machine);
    await change('remote_server.update', 'PUT', `/remote-servers/${server.uuid}`, { name: 'n' });
    await change('remote_server.test', 'POST', `/remote-servers/${server.uuid}/test`);
    await change('remote_server.delete', 'DELETE', `/remote-servers/${server.uuid}`);

    // Nobody answers there, and that it was tried is told.
    await app.send('POST', '/settings', { key: 'acme.dns_resolvers', value: '127.0.0.1:9' }, admin.headers);
    const hook = { name: 'hook', type: 'webhook', fields: { url: 'http://127.0.0.1:9/', bearer_token: 'secret' } };
    const dns = await change<{ id: number }>('dns_provider.create', 'POST', '/dns-providers', hook);
    await change('dns_provider.update', 'PUT', `/dns-providers/${dns.id}`, {
      fields: { ...hook.fields, url: 'http://127.0.0.1:9/dns' },
    });
    await change('dns_provider.test', 'POST', `/dns-providers/${dns.id}/test`, { zone: 'example.com' });
    await change('dns_provider.delete', 'DELETE', `/dns-providers/${dns.id}`);

    const content = 'http://imported.example.com {\n\treverse_proxy 127.0.0.1:9\n}\n';
    const files = [{ filename: 'Caddyfile', content }];
    await change('import.upload', 'POST', '/import/upload', { content });
    // Read in the background, which changes the store as well.
    const isRead = () => app.send('GET', '/import/preview', undefined, admin.headers);
    await isRead();
    const uploaded = await change<{ session_uuid: string }>('import.upload', 'POST', '/import/upload-multi', { files });
    await isRead();
    await change('import.commit', 'POST', '/import/commit', { session_uuid: uploaded.session_uuid });
    const left = await app.send<{ session_uuid: string }>('POST', '/import/upload-multi', { files }, admin.headers);
    await isRead();
    await change('import.cancel', 'DELETE', `/import/cancel?session_uuid=${left.body.session_uuid}`);

    const document = { sallyport: 1, access_lists: [{ name: 'as code', type: 'allow' }] };
    await change('config.apply', 'POST', '/apply', document);

    const list = { name: 'office', type: 'allow', rules: [{ cidr: '10.0.0.0/8' }] };
    const access = await change<{ id: number }>('access_list.create', 'POST', '/access-lists', list);
    await change('access_list.update', 'PUT', `/access-lists/${access.id}`, { name: 'offices' });
    await change('access_list.delete', 'DELETE', `/access-lists/${access.id}`);

    await change('security.configure', 'POST', '/security/config', { admin_whitelist: '127.0.0.1', waf_mode: 'block' });
    await change('security.exclude', 'POST', '/security/exclusions', { rule_id: 942_100, description: 'false alarm' });
    await change('security.enable', 'POST', '/security/enable', {});
    const glass = await change<{ token: string }>(
      'security.breakglass_generate',
      'POST',
      '/security/breakglass/generate',
    );
    await change('security.disable', 'POST', '/security/disable', { break_glass_token: glass.token });
    const ban = { ip: '198.51.100.9', action: 'block', details: 'test' };
    const banned = await change<{ decision: { id: number } }>('decision.create', 'POST', '/security/decisions', ban);
    await change('decision.delete', 'DELETE', `/security/decisions/${banned.decision.id}`);
    const rules = { name: 'r', content: 'SecRule ARGS "@contains evil" "id:100001,phase:2,deny"', mode: 'custom' };
    const set = await change<{ ruleset: { id: number } }>('ruleset.create', 'POST', '/security/rulesets', rules);
    const others = { ...rules, content: rules.content.replace('evil', 'wicked') };
    await change('ruleset.update', 'POST', '/security/rulesets', others);
    await change('ruleset.delete', 'DELETE', `/security/rulesets/${set.ruleset.id}`);
    await change('notifications.configure', 'PUT', '/security/notifications/settings', { min_log_level: 'warn' });

    const form = uploadForm('site', makeCertificate(['site.example.com']));
    const { id } = await change<{ id: number }>('certificate.upload', 'POST', '/certificates/upload', form);
    const collected = new FormData();
    const { certificate, key } = makeCertificate(['collected.example.com']);
    collected.append('file', new Blob([certificate + key]), 'both.pem');
    await change('certificate.upload', 'POST', '/certificates/import', collected);
    const next = uploadForm('other', makeCertificate(['site.example.com']));
    await change('certificate.replace', 'PUT', `/certificates/${id}`, next);
    await change('certificate.key_download', 'POST', `/certificates/${id}/download`, { password: PASSWORD });
    await change('certificate.delete', 'DELETE', `/certificates/${id}`);

    const pebble = await startPebble();
    const { directoryUrl: directory_url, ca: ca_certificate } = pebble;
    const authority = { name: 'a', directory_url, ca_certificate, terms_agreed: true };
    const account = await change<{ id: number }>('acme_account.create', 'POST', '/acme/accounts', authority);
    await change('acme_account.update', 'PUT', `/acme/accounts/${account.id}`, { name: 'b' });
    // From now on orders fail at once, and nothing changes beside us.
    await pebble.stop();
    const ordered = await change<{ certificate: Certificate }>('certificate.order', 'POST', '/certificates/order', {
      names: ['ordered.example.com'],
    });
    const orderPath = `/certificates/${ordered.certificate.id}`;
    const triedBefore = async (tried: string | null): Promise<string> =>
      until(
        'the order failed',
        async () => {
          const { body } = await app.send<Certificate>('GET', orderPath, undefined, admin.headers);
          return body.status === 'failed' && body.last_attempt_at !== tried ? String(body.last_attempt_at) : undefined;
        },
        60_000,
      );
    const tried = await triedBefore(null);
    await change('certificate.renew_now', 'POST', `${orderPath}/renew`);
    await triedBefore(tried);
    await change('certificate.delete', 'DELETE', orderPath);
    await change('acme_account.delete', 'DELETE', `/acme/accounts/${account.id}`);

    const backup = await change<Backup>('backup.create', 'POST', '/backups', {});
    const path = `/backups/${backup.name}`;
    const downloaded = await fetch(`${app.url}/api/v1${path}/download`, { headers: admin.headers });
    const upload = new FormData();
    upload.set('file', await downloaded.blob());
    await change('backup.upload', 'POST', '/backups/upload', upload);
    await change('backup.restore', 'POST', `${path}/restore`, {});
    await change('backup.delete', 'DELETE', path);

    await change('setting.set', 'POST', '/settings', { key: 'smtp.host', value: '' });
    await change('setting.reset', 'DELETE', '/settings/smtp.host');

    const token = await change<{ id: number }>('token.create', 'POST', '/tokens', { name: 'x' });
    await change('token.delete', 'DELETE', `/tokens/${token.id}`);

    const fields = { email: 'user@example.com', password: PASSWORD };
    const user = await change<{ id: number }>('user.create', 'POST', '/users', fields);
    await change('user.update', 'PUT', `/users/${user.id}`, { name: 'User' });
    await change('user.totp_cleared', 'DELETE', `/users/${user.id}/totp`);
    const signedIn = await change<{ token: string }>('auth.login', 'POST', '/auth/login', fields, {});
    const own = bearer(signedIn.token);
    const totp = await change<TotpSecret>('auth.totp_begun', 'POST', '/auth/totp/setup', { password: PASSWORD }, own);
    const code = shownCode(totp.secret, new Date());
    await change('auth.totp_enabled', 'POST', '/auth/totp/enable', { code }, own);
    const proof = { password: PASSWORD };
    await change('auth.recovery_codes_renewed', 'POST', '/auth/totp/recovery-codes', proof, own);
    await change('auth.totp_disabled', 'POST', '/auth/totp/disable', proof, own);
    const other = await given.signIn(fields.email);
    const { body: sessions } = await app.send<{ id: string }[]>('GET', '/auth/sessions', undefined, own);
    await change('auth.session_revoked', 'DELETE', `/auth/sessions/${sessions[0]?.id}`, undefined, own);
    expect(other.user.id).toBe(user.id);
    const passwords = { current_password: PASSWORD, new_password: 'another password' };
    await change('auth.password_changed', 'POST', '/auth/change-password', passwords, own);
    const again = await given.signIn(fields.email, 'another password');
    await change('auth.logout', 'POST', '/auth/logout', undefined, again.headers);
    await change('user.delete', 'DELETE', `/users/${user.id}`);
    const invite = await change<Invite>('user.invite', 'POST', '/users/invite', { email: 'new@example.com' });
    const resent = await change<Invite>('user.invite_resent', 'POST', `/users/${invite.user.id}/resend-invite`);
    const inviteToken = new URL(resent.invite_url).searchParams.get('token');
    const acceptance = { token: inviteToken, password: PASSWORD };
    await change('user.invite_accepted', 'POST', '/invite/accept', acceptance, {});

    const changing = app
      .routePolicies()
      .map((line) => line.split(' ').slice(0, 2).join(' ').replace('/api/v1', ''))
      .filter((route) => !/^(GET|HEAD|HEAD,GET) /.test(route) && !CHANGE_NOTHING.has(route))
      .filter(
        (route) =>
          !OF_PROCESSES.has(route) &&
          route !== WAY_IN &&
          route !== DRILL &&
          route !== PROOF &&
          route !== REVOCATION &&
          !OF_ROOTS.test(route) &&
          !OF_CROWDSEC.test(route),
      );
    expect([...new Set(done)].sort()).toEqual([...changing].sort());
  });
});
