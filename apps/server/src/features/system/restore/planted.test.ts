import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backup, ErrorBody, RestoreReport, SecurityStatus } from '@sallyport/contract';
import { proxyDirectory } from '@sallyport/deployment/places';
import { dataPlaneFiles, writeStaticFiles } from '@sallyport/haproxy';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { acmeAccountContext, INTERNAL_CA_CONTEXT } from '@sallyport/store/secrets/contexts';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import type { Vault } from '@sallyport/store/secrets/vault';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../../../test/support/certificates.ts';
import { until } from '../../../../../../test/support/until.ts';
import { toProxySettings } from '../../../dataplane/proxy-settings.ts';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { startApp, type TestApp } from '../../../testing/start-app.ts';
import { makeAuthority } from '../../traffic/internal-ca/authority.ts';

/** A column of a table, and what a hand-made backup holds there. */
type Plant = readonly [table: string, column: string, value: string | number];

const RULE = 'SecRule ARGS "@contains nothing" "id:1,phase:1,pass"';

/** Of somebody else's, and no authority. */
const OTHERS = makeCertificate(['others.example.com']);

const PLANTS: readonly Plant[] = [
  // Lines of HAProxy's maps and its commands are made of these.
  ['decisions', 'ip', '198.51.100.9\n'],
  ['decisions', 'ip', ' 198.51.100.9'],
  ['decisions', 'ip', '198.51.100.9/24'],
  ['decisions', 'uuid', 'x\n0.0.0.0/0 clear'],
  ['decisions', 'uuid', ''],
  ['decisions', 'source', 'x\n0.0.0.0/0 ok'],
  ['decisions', 'action', 'allow'],
  ['decisions', 'details', 'x'.repeat(5_000)],
  ['decisions', 'created_at', 'yesterday'],
  ['decisions', 'expires_at', '9999'],
  ['decisions', 'id', -1],
  ['decisions', 'id', 2_147_483_647],
  ['proxy_hosts', 'id', 0],
  ['proxy_hosts', 'uuid', '../../etc'],
  ['proxy_hosts', 'name', 'x'.repeat(300)],
  ['proxy_hosts', 'forward_host', ' ORIGIN.example.com '],
  ['proxy_hosts', 'forward_host', '[::1]'],
  ['proxy_hosts', 'waf_body_limit', -1],
  ['proxy_hosts', 'waf_allowed_methods', 'GET|.*'],
  ['proxy_hosts', 'waf_allowed_content_types', '|'],
  ['proxy_hosts', 'updated_at', 'never'],
  ['remote_servers', 'uuid', 'x'],
  ['remote_servers', 'host', 'http://192.0.2.1/'],
  ['remote_servers', 'name', ''],
  ['remote_servers', 'provider', 'moon'],
  ['remote_servers', 'enabled', 7],
  ['dns_providers', 'name', ''],
  ['dns_providers', 'fields', '[]'],
  ['dns_providers', 'fields', '{"nameserver":7}'],
  ['dns_providers', 'fields', '{"nameserver":"192.0.2.53\\nserver 192.0.2.54"}'],
  ['dns_providers', 'fields', '{"nameserver":"192.0.2.53","colour":"red"}'],
  ['dns_providers', 'secrets_sealed', 'v1.0.x'],
  ['acme_accounts', 'name', ' '],
  ['acme_accounts', 'directory_url', 'http://169.254.169.254/'],
  ['acme_accounts', 'directory_url', 'https://CA.example.com/directory'],
  ['acme_accounts', 'email', 'a@example.com\r\nBcc: b@example.com'],
  ['acme_accounts', 'terms_agreed', 2],
  ['acme_accounts', 'account_url', 'https://192.0.2.1/account'],
  ['acme_accounts', 'eab_kid', 'half'],
  ['acme_accounts', 'ca_certificate', 'x'],
  ['certificate_orders', 'issuer', 'x'],
  ['certificate_orders', 'challenge', 'x'],
  ['certificate_orders', 'key_type', 'x'],
  ['certificate_orders', 'is_auto', 2],
  ['certificate_orders', 'names', 'UPPER.example.com'],
  ['certificate_orders', 'names', ''],
  ['certificate_orders', 'steps', 'none'],
  ['certificate_orders', 'steps', '[{"name":"x"}]'],
  ['certificate_orders', 'problem', '{}'],
  ['certificate_orders', 'failures', -1],
  ['certificate_orders', 'next_attempt_at', 'soon'],
  ['certificate_orders', 'certificate_id', 7],
  ['internal_ca', 'root_pem', OTHERS.certificate],
  ['internal_ca', 'root_pem', 'x'],
  ['order_ledger', 'ordered_at', 'z'],
  ['revoked_certificates', 'fingerprint', 'x'],
  ['revoked_certificates', 'revoked_at', 'x'],
  ['access_lists', 'uuid', 'x'],
  ['access_lists', 'enabled', 2],
  ['access_lists', 'name', ''],
  ['access_lists', 'rules', '[{"cidr":"192.0.2.0/24","description":7}]'],
  ['certificates', 'domains', 'another.example.com'],
  ['certificates', 'expires_at', '2999-01-01T00:00:00.000Z'],
  ['certificates', 'provider', 'x'],
  ['certificates', 'is_placeholder', 7],
  ['rulesets', 'content', 'SecRule ARGS "@rx (" "id:1,phase:1,deny"'],
  ['rulesets', 'content', 'Include /etc/passwd'],
  ['rulesets', 'content', 'SecRule ARGS "@pmFromFile /etc/passwd" "id:1,phase:1,deny"'],
  ['rulesets', 'mode', 'x'],
  ['rulesets', 'name', ' '],
  ['rulesets', 'rule_count', -5],
  ['rulesets', 'source_url', 'javascript:alert(1)'],
  ['security_config', 'admin_whitelist', '192.0.2.7\n'],
  ['security_config', 'rate_limit_bypass_list', '192.0.2.7 , 192.0.2.8'],
  ['security_config', 'rate_limit_requests', -1],
  ['security_config', 'waf_allowed_methods', '|'],
  ['security_config', 'webhook_url', 'http://169.254.169.254/latest'],
  ['security_config', 'updated_at', 'x'],
  ['security_config', 'id', 2],
  ['notification_settings', 'webhook_url', 'http://127.0.0.1:8085/'],
  ['notification_settings', 'webhook_format', 'x'],
  ['notification_settings', 'webhook_format', 'template'],
  ['notification_settings', 'webhook_template', '{{'],
  ['notification_settings', 'email_recipients', 'a@example.com\r\nBcc: b@example.com'],
  ['notification_settings', 'min_log_level', 'x'],
  ['notification_settings', 'enabled', 2],
  ['origin_addresses', 'address', 'x'],
  ['settings', 'value', 'x\n'],
];

/** An account, an order of it for the only certificate, what is counted of it, and an authority of our own. */
const insertOrders = async ({ kysely }: Database, vault: Vault): Promise<void> => {
  const now = '2026-01-01T00:00:00.000Z';
  const times = { created_at: now, updated_at: now };
  const directory_url = 'https://ca.example.com/directory';
  const account_url = 'https://ca.example.com/account/1';
  const uuid = '0b5c0b5c-0b5c-4b5c-8b5c-0b5c0b5c0b5c';
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key_sealed = vault.seal(String(privateKey.export({ type: 'pkcs8', format: 'pem' })), acmeAccountContext(uuid));
  const account = { uuid, name: 'one', directory_url, email: '', terms_agreed: 1, key_sealed, account_url };
  await kysely
    .insertInto('acme_accounts')
    .values({ ...account, ...times })
    .execute();
  const how = { issuer: 'acme', account_id: 1, challenge: 'http-01', key_type: 'p256', is_auto: 0 };
  const lease = { leased_by: '', leased_until: '' };
  await kysely
    .insertInto('certificate_orders')
    .values({ certificate_id: 1, ...how, names: 'site.example.com', steps: '[]', failures: 0, ...lease, ...times })
    .execute();
  const counted = { names: 'site.example.com', registered_domains: 'example.com', is_renewal: 0, outcome: 'issued' };
  const fingerprint = `${'AB:'.repeat(31)}AB`;
  await kysely.insertInto('revoked_certificates').values({ fingerprint, revoked_at: now, expires_at: now }).execute();
  await kysely
    .insertInto('order_ledger')
    .values({ directory_url, account_url, ...counted, ordered_at: now })
    .execute();
  const { rootPem, keyPem } = await makeAuthority('here', new Date());
  const authority = { root_pem: rootPem, key_sealed: vault.seal(keyPem, INTERNAL_CA_CONTEXT), created_at: now };
  await kysely
    .insertInto('internal_ca')
    .values({ id: 1, ...authority })
    .execute();
};

describe('a backup that was made by hand', () => {
  let app: TestApp;
  let admin: Caller;
  let database: Database;
  beforeAll(async () => {
    app = await startApp('sqlite');
    admin = await createGiven(app).administrator();
    const send = async (method: string, path: string, body: unknown) => {
      const answer = await app.send(method, path, body, admin.headers);
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    };
    const form = uploadForm('site', makeCertificate(['site.example.com']));
    await send('POST', '/certificates/upload', form);
    await send('POST', '/remote-servers', { name: 'one', host: '192.0.2.1', port: 80 });
    await send('POST', '/dns-providers', { name: 'one', type: 'rfc2136', fields: { nameserver: '192.0.2.53' } });
    await send('POST', '/access-lists', { name: 'one', type: 'deny', rules: [{ cidr: '192.0.2.0/24' }] });
    await send('POST', '/proxy-hosts', { domain: 'site.example.com', forward_host: '192.0.2.1', forward_port: 80 });
    await send('POST', '/security/decisions', { ip: '198.51.100.9', action: 'block' });
    await send('POST', '/security/rulesets', { name: 'one', mode: 'custom', content: RULE });
    await send('POST', '/security/config', { admin_whitelist: '192.0.2.7' });
    await send('PUT', '/security/notifications/settings', { enabled: false });
    await send('POST', '/settings', { key: 'smtp.host', value: 'mail.example.com' });
    database = openDatabase(app.config);
    await insertOrders(database, await openStoreVault(database, app.config));
    await sql`insert into origin_addresses (name, address, resolved_at) values ('origin.example.com', '192.0.2.1', '2026-01-01T00:00:00.000Z')`.execute(
      database.kysely,
    );
  });
  afterAll(async () => {
    await database.stop();
    await app.stop();
  });

  const tryPlant = async ([table, column, value]: Plant) => {
    const at = sql.table(table);
    const { rows } = await sql<
      Record<string, unknown>
    >`select rowid as _row, ${sql.ref(column)} as was from ${at}`.execute(database.kysely);
    const [row] = rows;
    if (rows.length !== 1 || !row) throw new Error(`${table} has ${rows.length} rows`);
    const set = async (to: unknown) => sql`update ${at} set ${sql.ref(column)} = ${to}`.execute(database.kysely);
    await sql`pragma foreign_keys = off`.execute(database.kysely);
    await set(value);
    const { body: backup } = await app.send<Backup>('POST', '/backups', {}, admin.headers);
    await set(row.was);
    return app.send<RestoreReport & ErrorBody>(
      'POST',
      `/backups/${backup.name}/restore`,
      { dry_run: true },
      admin.headers,
    );
  };

  test.each<Plant>([
    ['decisions', 'details', 'seen twice'],
    // As an engine of another version may have counted.
    ['rulesets', 'rule_count', 3],
  ])('is taken when nothing was planted in it: %s.%s %j is not', async (...plant) => {
    const { status, body } = await tryPlant(plant);
    expect({ status, body }).toMatchObject({ status: 200, body: { restored: false } });
  });

  test.each(PLANTS)('with %s.%s %j is refused', async (...plant) => {
    const { status, body } = await tryPlant(plant);
    expect({ status, body }).toEqual({ status: 400, body: expect.objectContaining({ error: expect.any(String) }) });
  });
});

test('a store that holds such rows, however they came there, has the server start and lets nobody through for it', async () => {
  const app = await startApp('sqlite', { SALLYPORT_SESSION_SECRET: 's'.repeat(32) });
  onTestFinished(() => app.stop());
  const { headers } = await createGiven(app).administrator();
  await writeStaticFiles(proxyDirectory(app.dataDir), toProxySettings(app.config));
  await app.send('POST', '/security/decisions', { ip: '198.51.100.9', action: 'block' }, headers);
  await app.send('POST', '/security/config', { admin_whitelist: '192.0.2.7' }, headers);
  await app.send('POST', '/settings', { key: 'feature.guard.enabled', value: 'true' }, headers);
  const map = (name: string) => readFileSync(join(proxyDirectory(app.dataDir), name), 'utf8');
  expect(map(dataPlaneFiles.bansMap)).toContain('198.51.100.9 manual/');
  const database = openDatabase(app.config);
  onTestFinished(() => database.stop());
  const plant = (statement: string) => sql.raw(statement).execute(database.kysely);

  await plant(`update decisions set uuid = 'x' || char(10) || '0.0.0.0/0 ok'`);
  await plant(`update security_config set admin_whitelist = '192.0.2.7' || char(10)`);
  await app.restart();
  const status = async () => (await app.send<SecurityStatus>('GET', '/security/status')).body;
  await until('it is told', async () => (await status()).issue?.includes('not a line of a map'), 60_000);
  // Which HAProxy starts with, and refuses everybody.
  for (const name of [dataPlaneFiles.bansMap, dataPlaneFiles.whitelistMap]) expect(map(name), name).toBe('');

  await plant(`update security_config set waf_allowed_methods = '|', admin_whitelist = ''`);
  // What is wrong can be seen, to be mended.
  await app.send(
    'POST',
    '/proxy-hosts',
    { domain: 'site.example.com', forward_host: '192.0.2.1', forward_port: 80 },
    headers,
  );
  await plant(`update proxy_hosts set waf_body_limit = -1, updated_at = 'never "yet"'`);
  await plant(`update decisions set expires_at = 'z'`);
  await app.send('POST', '/certificates/order', { names: ['nas.lan'], provider: 'internal' }, headers);
  await plant(`update certificate_orders set challenge = 'x'`);
  await app.restart();
  const host = { waf_body_limit: -1, updated_at: 'never "yet"' };
  expect(await app.send('GET', '/proxy-hosts', undefined, headers)).toMatchObject({ status: 200, body: [host] });
  expect(await app.send('GET', '/security/decisions', undefined, headers)).toMatchObject({
    status: 200,
    body: { decisions: [{ expires_at: 'z' }] },
  });
  expect(await app.send('GET', '/certificates', undefined, headers)).toMatchObject({
    status: 200,
    body: [{ source: { challenge: 'x' } }],
  });
  expect(await status()).toMatchObject({ applied: false });
  const mended = await app.send('POST', '/security/config', { waf_allowed_methods: 'GET' }, headers);
  expect(mended.status, JSON.stringify(mended.body)).toBe(200);
});
