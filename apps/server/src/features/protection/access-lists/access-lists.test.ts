import { readFileSync } from 'node:fs';
import { ownCountryDatabase } from '@sallyport/access/country-database';
import type {
  AccessDraftResult,
  AccessList,
  AccessTestResult,
  ErrorBody,
  GuardConfig,
  ProxyHost,
} from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeCountryDatabase } from '../../../../../../test/support/country-database.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';
import { guardConfigPath } from '../suite/guard-config-file.ts';

onBothDatabases('access lists', (kind) => {
  let app: TestApp;
  let serial = 0;
  beforeAll(async () => {
    app = await startApp(kind);
  });
  afterAll(() => app.stop());

  const create = (fields: object) =>
    app.send<AccessList & ErrorBody>('POST', '/access-lists', { name: `list-${++serial}`, type: 'allow', ...fields });
  const judge = (id: number, ip: string) =>
    app.send<AccessTestResult & ErrorBody>('POST', `/access-lists/${id}/test`, { ip });
  const guardConfig = () => JSON.parse(readFileSync(guardConfigPath(app.dataDir), 'utf8')) as GuardConfig;

  test('answers 201 with every field, canonical and with defaults', async () => {
    const { status, body } = await create({
      name: ' office ',
      rules: [{ cidr: '10.1.2.3/8', description: 'LAN' }, { cidr: '2001:DB8::1' }],
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(Number),
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'office',
      description: '',
      type: 'allow',
      rules: [
        { cidr: '10.0.0.0/8', description: 'LAN' },
        { cidr: '2001:db8::1', description: '' },
      ],
      countries: [],
      local_network_only: false,
      enabled: true,
      warnings: [{ field: 'enabled', message: 'guards nothing: no proxy host has it as access_list_id' }],
      created_at: body.created_at,
      updated_at: body.created_at,
    });
    expect((await app.send('GET', `/access-lists/${body.id}`)).body).toEqual({
      ...body,
      used_by: [],
      used_by_total: 0,
    });
    expect((await app.send<AccessList[]>('GET', '/access-lists')).body).toContainEqual(body);
    expect((await app.send<AccessList>('PUT', `/access-lists/${body.id}`, body)).body).toMatchObject({
      name: 'office',
    });
  });

  test('a list that nobody has stored is judged, too: of the address that is asked for, else of who asks', async () => {
    const judgeDraft = (draft: object, headers?: Record<string, string>) =>
      app.send<AccessDraftResult & ErrorBody>('POST', '/access-lists/test', draft, headers);
    const draft = { type: 'allow', rules: [{ cidr: '10.0.0.0/8' }] };
    expect((await judgeDraft({ ...draft, ip: '::ffff:10.1.2.3' })).body).toMatchObject({
      ip: '10.1.2.3',
      allowed: true,
    });
    expect((await judgeDraft(draft)).body).toMatchObject({ ip: '127.0.0.1', allowed: false });
    expect((await judgeDraft({ ...draft, enabled: false })).body).toMatchObject({ allowed: true });
    for (const [wrong, message] of [
      [{ rules: [{ cidr: '10.0.0.1' }, { cidr: '10.0.0.0/33' }] }, /^rules\[1\]\.cidr /],
      [{ type: 'geo_allow', rules: [] }, /^countries is required/],
      [{ ip: '10.0.0.0/8' }, /^ip must be an IP address/],
    ] as const) {
      const { status, body } = await judgeDraft({ ...draft, ...wrong });
      expect(status).toBe(400);
      expect(body.error).toMatch(message);
    }
    expect((await app.send<AccessList[]>('GET', '/access-lists')).body.map(({ name }) => name)).not.toContain('draft');
  });

  test.each([
    ['no name', { name: undefined }, 'name is required'],
    ['a blank name', { name: '  ' }, 'name is required'],
    ['no type', { type: undefined }, 'type is required'],
    ['another type', { type: 'maybe' }, 'type must be one of: allow, deny, geo_allow, geo_deny'],
    ['a bad network', { rules: [{ cidr: '10.0.0.0/8' }, { cidr: '10.0/8' }] }, 'rules[1].cidr "10.0/8" is not an IP'],
    ['a rule without a network', { rules: [{}] }, 'rules[0].cidr is required'],
    ['a country by name', { type: 'geo_allow', countries: ['Germany'] }, 'countries[0]'],
    ['a country that is none', { type: 'geo_allow', countries: ['D1'] }, 'countries[0]'],
    ['a code that no country has', { type: 'geo_deny', countries: ['DE', 'uk'] }, 'countries has UK'],
    ['nobody to admit', { type: 'geo_allow' }, 'countries is required for geo_allow'],
    ['countries without geo', { type: 'deny', countries: ['DE'] }, 'countries can only be given for'],
    ['a flag as text', { enabled: 'true' }, 'enabled must be a boolean'],
  ])('refuses %s', async (_what, fields, message) => {
    const answer = await create(fields);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(message);
  });

  test('gives a name to one list only', async () => {
    const { body: first } = await create({ name: 'taken' });
    expect((await create({ name: 'taken' })).status).toBe(409);
    const { body: second } = await create({});
    expect((await app.send('PUT', `/access-lists/${second.id}`, { name: 'taken' })).status).toBe(409);
    expect((await app.send('PUT', `/access-lists/${first.id}`, { name: 'taken', enabled: false })).status).toBe(200);
  });

  test('tells what a list decides, and why', async () => {
    const { body: list } = await create({ rules: [{ cidr: '192.0.2.0/24' }] });
    expect((await judge(list.id, '192.0.2.9')).body).toEqual({
      allowed: true,
      reason: 'the address is in an allowed network',
    });
    expect((await judge(list.id, '198.51.100.1')).body).toEqual({
      allowed: false,
      reason: 'the address is in no allowed network',
    });
    await app.send('PUT', `/access-lists/${list.id}`, { type: 'deny' });
    expect((await judge(list.id, '::ffff:192.0.2.9')).body.allowed).toBe(false);
    expect((await judge(list.id, '192.0.2.0/24')).status).toBe(400);
    expect((await judge(list.id, 'localhost')).status).toBe(400);
  });

  test('knows no other list, and says which ids are none', async () => {
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PUT', '', {}],
      ['DELETE', '', undefined],
      ['POST', '/test', { ip: '192.0.2.1' }],
    ] as const) {
      expect(await app.send(method, `/access-lists/99999${path}`, body)).toMatchObject({
        status: 404,
        body: { error: 'Access list not found' },
      });
      expect((await app.send(method, `/access-lists/x${path}`, body)).status).toBe(400);
    }
  });

  test('guards a proxy host, whose guards know it, and stays as long as one uses it', async () => {
    const { body: list } = await create({ rules: [{ cidr: '192.0.2.0/24' }] });
    const origin = { forward_host: '127.0.0.1', forward_port: 9000 };
    const refused = await app.send<ErrorBody>('POST', '/proxy-hosts', {
      ...origin,
      domain: 'x.example.com',
      access_list_id: 9999,
    });
    expect(refused).toMatchObject({ status: 400, body: { error: 'access_list_id names no access list' } });
    const host = await app.send<ProxyHost>('POST', '/proxy-hosts', {
      ...origin,
      domain: 'guarded.example.com',
      access_list_id: list.id,
    });
    expect(host.status).toBe(201);
    const { hosts, access } = guardConfig();
    expect(hosts).toEqual([{ id: expect.any(Number), access_list_id: list.id, waf_enabled: true }]);
    expect(access.lists).toContainEqual(expect.objectContaining({ id: list.id, type: 'allow' }));
    expect(await app.send('DELETE', `/access-lists/${list.id}`)).toMatchObject({
      status: 409,
      body: { error: 'access list is in use by one or more proxy hosts' },
    });
    await app.send('PUT', `/proxy-hosts/${host.body.uuid}`, { access_list_id: null });
    expect(guardConfig().hosts).toEqual([]);
    expect((await app.send('DELETE', `/access-lists/${list.id}`)).status).toBe(204);
    expect(guardConfig().access.lists).not.toContainEqual(expect.objectContaining({ id: list.id }));
  });

  test.each([
    ['with the code alone', (code: string) => ({ country_code: code })],
    ["of GeoLite2's form", (code: string) => ({ country: { iso_code: code } })],
  ])("reads countries from the operator's own database, %s", async (_what, toRecord) => {
    const countries = { '198.51.100.0/24': 'DE', '203.0.113.0/25': 'FR' };
    writeCountryDatabase(ownCountryDatabase(app.dataDir), countries, toRecord);
    await app.restart();
    const { body: allow } = await create({
      type: 'geo_allow',
      countries: ['de', 'DE'],
      rules: [{ cidr: '10.0.0.0/8' }],
    });
    expect(allow.countries).toEqual(['DE']);
    expect((await judge(allow.id, '198.51.100.77')).body).toEqual({ allowed: true, reason: 'country DE is allowed' });
    expect((await judge(allow.id, '203.0.113.1')).body).toEqual({
      allowed: false,
      reason: 'country FR is not allowed',
    });
    expect((await judge(allow.id, '203.0.113.200')).body.allowed).toBe(false);
    expect((await judge(allow.id, '10.1.1.1')).body.allowed).toBe(true);
    const { body: deny } = await create({ type: 'geo_deny', countries: ['FR'] });
    expect((await judge(deny.id, '::ffff:203.0.113.1')).body).toEqual({
      allowed: false,
      reason: 'country FR is denied',
    });
    expect((await judge(deny.id, '192.0.2.1')).body.allowed).toBe(true);
  });
});
