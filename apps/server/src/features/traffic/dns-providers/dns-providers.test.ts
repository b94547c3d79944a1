import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DnsProvider, DnsProviderTest, DnsProviderType, ErrorBody, HistoryEntry } from '@sallyport/contract';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../../../test/support/certificates.ts';
import { type Named, startNamed } from '../../../../../../test/support/start-named.ts';
import { type Caller, createGiven } from '../../../testing/given-accounts.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

const SECRET = 'c2VjcmV0IG9mIGEga2V5IHRoYXQgbm9ib2R5IHNlZXM=';
const OTHER_SECRET = 'YW5vdGhlciBzZWNyZXQgb2YgYSBrZXkgdGhhdCBub2I=';
const bind = { nameserver: '192.0.2.53', tsig_key_name: 'sallyport', tsig_secret: SECRET };

onBothDatabases('DNS providers', (kind) => {
  let app: TestApp;
  let admin: Caller;
  let database: Database;
  /** Everything that was answered. */
  const answered: string[] = [];
  beforeAll(async () => {
    app = await startApp(kind);
    admin = await createGiven(app).administrator();
    database = openDatabase(app.config);
  });
  afterAll(async () => {
    await database.stop();
    await app.stop();
  });

  const send = async <T = DnsProvider>(method: string, path: string, body?: unknown) => {
    const answer = await app.send<T>(method, path, body, admin.headers);
    answered.push(JSON.stringify(answer.body));
    return answer;
  };
  let count = 0;
  const create = async (given: object = {}) => {
    count += 1;
    const answer = await send('POST', '/dns-providers', {
      name: `bind ${count}`,
      type: 'rfc2136',
      fields: bind,
      ...given,
    });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };
  const secretsSealed = async (id: number): Promise<string> => {
    const { rows } = await sql<{
      sealed: string;
    }>`select secrets_sealed as sealed from dns_providers where id = ${id}`.execute(database.kysely);
    return String(rows[0]?.sealed);
  };

  test('are made with their secrets, which nobody is shown', async () => {
    const made = await create();
    expect(made).toMatchObject({
      type: 'rfc2136',
      fields: { nameserver: '192.0.2.53', tsig_key_name: 'sallyport' },
      secrets_set: ['tsig_secret'],
    });
    expect((await send('GET', `/dns-providers/${made.uuid}`)).body).toEqual({ ...made, used_by: [], used_by_total: 0 });
    expect((await send<DnsProvider[]>('GET', `/dns-providers?search=${made.name}`)).body).toEqual([made]);
    expect(await secretsSealed(made.id)).toMatch(/^v1\./);
  });

  test('a secret that a change leaves out stays as it is, null takes it away, other fields go when they are left out', async () => {
    const made = await create({ fields: { ...bind, ttl: '120' } });
    const sealed = await secretsSealed(made.id);
    const renamed = await send('PUT', `/dns-providers/${made.id}`, { name: `renamed ${made.id}` });
    expect(renamed.body).toMatchObject({ fields: { ttl: '120' }, secrets_set: ['tsig_secret'] });
    expect(await secretsSealed(made.id)).toBe(sealed);
    const { tsig_secret: _left, ...others } = bind;
    const changed = await send('PUT', `/dns-providers/${made.id}`, { fields: others });
    expect(changed.body).toMatchObject({ fields: others, secrets_set: ['tsig_secret'] });
    expect(changed.body.fields).not.toHaveProperty('ttl');
    const elsewhere = await send<ErrorBody>('PUT', `/dns-providers/${made.id}`, {
      fields: { ...others, port: '5353' },
    });
    expect(elsewhere).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^fields.tsig_secret must be given anew/) },
    });
    const without = await send('PUT', `/dns-providers/${made.id}`, {
      fields: { nameserver: '192.0.2.53', tsig_secret: null },
    });
    expect(without.body).toMatchObject({ fields: { nameserver: '192.0.2.53' }, secrets_set: [] });
    // What GET gave can be put back.
    const { body: got } = await send('GET', `/dns-providers/${made.id}`);
    expect((await send('PUT', `/dns-providers/${made.id}`, got)).status).toBe(200);
  });

  test('changes, also of a secret, and deletions can be taken back', async () => {
    const made = await create();
    const newest = async () =>
      (await send<HistoryEntry[]>('GET', `/history?resource=dns-providers/${made.uuid}`)).body[0]?.id;
    const revert = async () => send('POST', `/history/${await newest()}/revert`);
    const opened = async () =>
      (await send<HistoryEntry[]>('GET', `/dns-providers/${made.uuid}/history`)).body[0]?.changes;
    await send('PUT', `/dns-providers/${made.uuid}`, { fields: { ...bind, tsig_secret: OTHER_SECRET } });
    expect(await opened()).toEqual([{ field: 'secrets', before: '***', after: '***' }]);
    expect((await revert()).status).toBe(200);
    expect((await send('DELETE', `/dns-providers/${made.uuid}`)).status).toBe(204);
    const back = await revert();
    expect(back).toMatchObject({ status: 200, body: { ...made, updated_at: expect.any(String) } });
    const { body: backed } = await send('GET', `/dns-providers/${made.uuid}`);
    expect(backed).toMatchObject({ secrets_set: ['tsig_secret'], fields: made.fields });
  });

  test.each([
    [{ type: 'rfc2136', fields: bind }, 400, 'name is required'],
    [{ name: 'n', type: 'exec', fields: { EXEC_PATH: '/bin/sh' } }, 400, /^type "exec" is not known here/],
    [{ name: 'n', type: 'manual' }, 400, /^type "manual" is not known here/],
    [{ name: 'n', type: 'acme-dns' }, 400, /^type "acme-dns" is not known here/],
    [{ name: 'n', type: '../rfc2136' }, 400, /is not known here/],
    [{ name: 'n', type: 'rfc2136' }, 400, 'fields.nameserver is required'],
    [
      { name: 'n', type: 'rfc2136', fields: { ...bind, namserver: 'x' } },
      400,
      'fields.namserver is not a field of rfc2136',
    ],
    [
      { name: 'n', type: 'rfc2136', fields: { ...bind, port: '0' } },
      400,
      'fields.port must be a whole number between 1 and 65535',
    ],
    [{ name: 'n', type: 'rfc2136', fields: { ...bind, ttl: 'x' } }, 400, /^fields.ttl must be/],
    [
      { name: 'n', type: 'rfc2136', fields: { ...bind, nameserver: 'a\nserver 192.0.2.9' } },
      400,
      /^fields.nameserver /,
    ],
    [
      { name: 'n', type: 'rfc2136', fields: { ...bind, tsig_key_name: 'a secret\nsend' } },
      400,
      /^fields.tsig_key_name /,
    ],
    [
      { name: 'n', type: 'rfc2136', fields: { ...bind, tsig_secret: 'not base64!' } },
      400,
      /^fields.tsig_secret must be base64/,
    ],
    [{ name: 'n', type: 'rfc2136', fields: { ...bind, zone: 'a b' } }, 400, /^fields.zone /],
    [
      { name: 'n', type: 'rfc2136', fields: { nameserver: 'a', tsig_key_name: 'k' } },
      400,
      'fields.tsig_secret is required with fields.tsig_key_name',
    ],
    [
      { name: 'n', type: 'rfc2136', fields: { nameserver: 'a', tsig_secret: SECRET } },
      400,
      'fields.tsig_key_name is required with fields.tsig_secret',
    ],
    [{ name: 'n', type: 'webhook', fields: { url: 'file:///etc/passwd' } }, 400, /^fields.url must be a URL/],
    [
      { name: 'n', type: 'webhook', fields: { url: 'https://u:p@h.example/' } },
      400,
      /^fields.url must not hold credentials/,
    ],
    [
      { name: 'n', type: 'webhook', fields: { url: 'https://h.example/', bearer_token: 'a\r\nb' } },
      400,
      /^fields.bearer_token /,
    ],
    [{ name: 'n', type: 'cloudflare', fields: { PATH: '/tmp' } }, 400, 'fields.PATH is not a field of cloudflare'],
    [{ name: 'n', type: 'cloudflare', fields: { LEGO_CA_CERTIFICATES: 'x' } }, 400, /is not a field of cloudflare/],
    [
      { name: 'n', type: 'cloudflare', fields: { CLOUDFLARE_DNS_API_TOKEN_FILE: '/etc/shadow' } },
      400,
      /is not a field of cloudflare/,
    ],
    [
      { name: 'n', type: 'gcloud', fields: { GCE_SERVICE_ACCOUNT_FILE: '/etc/shadow' } },
      400,
      /is not a field of gcloud/,
    ],
    [
      { name: 'n', type: 'route53', fields: { AWS_SHARED_CREDENTIALS_FILE: '/etc/shadow' } },
      400,
      /is not a field of route53/,
    ],
    [{ name: 'n', type: 'edgedns', fields: { AKAMAI_EDGERC: '/etc/shadow' } }, 400, /is not a field of edgedns/],
    [
      { name: 'n', type: 'cloudflare', fields: { CLOUDFLARE_EMAIL: 'a\u0001b' } },
      400,
      /^fields.CLOUDFLARE_EMAIL must be text/,
    ],
    [{ name: 'n', type: 'cloudflare', fields: { CLOUDFLARE_EMAIL: 7 } }, 400, /CLOUDFLARE_EMAIL/],
    [{ name: 'n', type: 'cloudflare', fields: 'x' }, 400, /^fields/],
    [{ name: 'n', type: 'cloudflare', field: {} }, 400, /did you mean fields/],
  ])('refuses %j', async (body, status, error) => {
    const answer = await send<ErrorBody>('POST', '/dns-providers', body);
    const message = typeof error === 'string' ? error : expect.stringMatching(error);
    expect(answer).toMatchObject({ status, body: { error: message } });
  });

  test('a name is one provider\u2019s, also when two want it at once', async () => {
    const { id, name } = await create();
    const same = { name, type: 'webhook', fields: { url: 'https://h.example/' } };
    expect((await send('POST', '/dns-providers', same)).status).toBe(409);
    expect((await send('PUT', `/dns-providers/${(await create()).id}`, { name })).status).toBe(409);
    expect((await send('PUT', `/dns-providers/${id}`, { name })).status).toBe(200);
    const race = await Promise.all([1, 2, 3].map(() => send('POST', '/dns-providers', { ...same, name: 'wanted' })));
    expect(race.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  test('one that certificates are proven by is not deleted', async () => {
    const made = await create();
    const form = uploadForm('shop', makeCertificate(['shop.example.com']));
    const { body: certificate } = await send<{ id: number; uuid: string }>('POST', '/certificates/upload', form);
    const values = { issuer: 'acme', challenge: 'dns-01', key_type: 'p256', names: 'shop.example.com', steps: '[]' };
    const blank = { is_auto: 0, failures: 0, leased_by: '', leased_until: '', created_at: 'x', updated_at: 'x' };
    await database.kysely
      .insertInto('certificate_orders')
      .values({ ...values, ...blank, certificate_id: certificate.id, dns_provider_id: made.id })
      .execute();
    const used = { used_by: [{ id: certificate.id, uuid: certificate.uuid, name: 'shop' }], used_by_total: 1 };
    expect((await send('GET', `/dns-providers/${made.id}`)).body).toMatchObject(used);
    const refused = await send<ErrorBody>('DELETE', `/dns-providers/${made.id}`);
    expect(refused).toMatchObject({ status: 409, body: { details: `used by shop (${certificate.uuid})` } });
    await database.kysely.deleteFrom('certificate_orders').execute();
    expect((await send('DELETE', `/dns-providers/${made.id}`)).status).toBe(204);
  });

  test('no answer had a secret in it', () => {
    expect(answered.length).toBeGreaterThan(40);
    for (const text of answered) {
      expect(text).not.toContain(SECRET);
      expect(text).not.toContain(OTHER_SECRET);
    }
  });
});

describe('types of DNS providers', () => {
  let app: TestApp;
  let named: Named;
  beforeAll(async () => {
    named = await startNamed({ zones: { 'zone.test': [] } });
    app = await startApp('sqlite');
    const admin = await createGiven(app).administrator();
    const setting = { key: 'acme.dns_resolvers', value: named.resolver };
    expect((await app.send('POST', '/settings', setting, admin.headers)).status).toBe(200);
  });
  afterAll(async () => {
    await app.stop();
    await named.stop();
  });

  test('are our own two and more than a hundred of lego\u2019s, none of which runs commands or reads files', async () => {
    const { body: types } = await app.send<DnsProviderType[]>('GET', '/dns-providers/types');
    expect(types.slice(0, 2).map(({ type }) => type)).toEqual(['rfc2136', 'webhook']);
    expect(types.length).toBeGreaterThan(100);
    const names = types.map(({ type }) => type);
    for (const type of ['exec', 'manual', 'acme-dns', 'hyperone']) expect(names).not.toContain(type);
    expect(names).toContain('lego-rfc2136');
    const fieldsOf = (type: string) => types.find((one) => one.type === type)?.fields ?? [];
    const secret = (type: string, key: string) => fieldsOf(type).find((field) => field.key === key)?.secret;
    expect(secret('cloudflare', 'CLOUDFLARE_DNS_API_TOKEN')).toBe(true);
    expect(secret('cloudflare', 'CLOUDFLARE_EMAIL')).toBe(false);
    expect(secret('route53', 'AWS_SECRET_ACCESS_KEY')).toBe(true);
    expect(secret('route53', 'AWS_REGION')).toBe(false);
    // A key is given itself.
    expect(secret('transip', 'TRANSIP_PRIVATE_KEY_PATH')).toBe(true);
    const keys = types.flatMap(({ fields }) => fields.map(({ key }) => key));
    expect(keys.filter((key) => /_FILE$|_PATH$|EDGERC/.test(key))).toEqual([
      'OCI_PRIVKEY_FILE',
      'TRANSIP_PRIVATE_KEY_PATH',
    ]);
    for (const { type, fields } of types) expect(fields.length, type).toBeGreaterThan(0);
  });

  test('what runs of lego left that were killed with us, keys among it, is gone after a start', async () => {
    const left = join(app.dataDir, 'dns', 'lego-left', 'accounts');
    mkdirSync(left, { recursive: true });
    writeFileSync(join(left, 'account.key'), 'a key');
    await app.restart();
    expect(existsSync(join(app.dataDir, 'dns'))).toBe(false);
  });

  const provider = async (secret: string) => {
    const { name: tsig_key_name } = named.key;
    const fields = { nameserver: '127.0.0.1', port: String(named.port), tsig_key_name, tsig_secret: secret };
    const name = `provider with ${secret.slice(0, 8)}`;
    return (await app.send<DnsProvider>('POST', '/dns-providers', { name, type: 'rfc2136', fields })).body;
  };

  test('a test sets a record, sees it, and takes it away', async () => {
    const { id } = await provider(named.key.secret);
    const { status, body } = await app.send<DnsProviderTest>('POST', `/dns-providers/${id}/test`, {
      zone: 'zone.test',
    });
    const message = 'The record _acme-challenge.zone.test was set, seen at the servers of its zone, and taken away';
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { ok: true, message, record: '_acme-challenge.zone.test' },
    });
    expect(await named.textOf('_acme-challenge.zone.test')).toEqual([]);
  });

  test('a test says why it came to nothing', async () => {
    const { id } = await provider(SECRET);
    const attempt = async (zone: string) =>
      (await app.send<DnsProviderTest & ErrorBody>('POST', `/dns-providers/${id}/test`, { zone })).body;
    expect(await attempt('zone.test')).toMatchObject({
      ok: false,
      message: expect.stringContaining('the TSIG secret is another'),
    });
    expect(await attempt('zone.nowhere')).toMatchObject({ ok: false, message: expect.stringMatching(/zone|look/) });
    expect(await attempt('no zone')).toMatchObject({ error: expect.stringMatching(/^zone /), code: 400 });
  });
});
